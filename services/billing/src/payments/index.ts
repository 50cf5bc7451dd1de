export { getPaymentEndpoint } from './get-payment.ts';
export { listPaymentsEndpoint } from './list-payments.ts';
export { addCredited, findPayment, lockedPayment, type PaymentRow } from './payment.store.ts';
export { writePayment } from './write-payment.ts';
