export { addPaymentMethodEndpoint } from './add-payment-method.ts';
export { listPaymentMethodsEndpoint } from './list-payment-methods.ts';
export { removePaymentMethodEndpoint } from './remove-payment-method.ts';
