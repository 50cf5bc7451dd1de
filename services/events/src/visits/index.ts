export { getVisitsDwellEndpoint } from './dwell.ts';
export { firstVisits, newVisitors } from './first-visits.store.ts';
export { summarizeVisitsEndpoint } from './summarize-visits.ts';
export { getVisitsTimeseriesEndpoint } from './timeseries.ts';
