export { getPaymentEndpoint } from './get-payment.ts';
export { listPaymentsEndpoint } from './list-payments.ts';
export { findPayment, findPaymentOf, lockedPayment, type PaymentRow } from './payment.store.ts';
export { type PaymentNow, writePayment } from './write-payment.ts';
