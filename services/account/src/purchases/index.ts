export { onPayments } from './on-payment.ts';
export { onRefunds } from './on-refund.ts';
