export { sendPlaysEndpoint } from './send-plays.ts';
export { sendVisitsEndpoint } from './send-visits.ts';
export { completions } from './told.ts';
