export { listFaultsEndpoint } from './list-faults.ts';
export { sendFaultsEndpoint } from './send-faults.ts';
