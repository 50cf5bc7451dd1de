export { changeConfigEndpoint } from './change-config.ts';
export { getOwnConfigEndpoint } from './get-own-config.ts';
export { relayHeartbeatsEndpoint } from './relay-heartbeats.ts';
export { reportConfigEndpoint } from './report-config.ts';
export { sendHeartbeatEndpoint } from './send-heartbeat.ts';
