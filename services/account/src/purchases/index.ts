export { onDisputes } from './on-dispute.ts';
export { onPayments } from './on-payment.ts';
export { onRefunds } from './on-refund.ts';
