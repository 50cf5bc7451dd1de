export { createRefundEndpoint } from './create-refund.ts';
export { finishRefunds } from './finish-refunds.ts';
export { getRefundEndpoint } from './get-refund.ts';
export { listRefundsEndpoint } from './list-refunds.ts';
export { writeRefund } from './write-refund.ts';
