export { actOnFraudWarning } from './fraud-warning.ts';
export { writeDispute } from './write-dispute.ts';
