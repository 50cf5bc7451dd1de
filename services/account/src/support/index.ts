export { createSupportSessionEndpoint } from './create-support-session.ts';
