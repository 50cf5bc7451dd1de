export { createCheckoutSessionEndpoint } from './create-checkout-session.ts';
export { getCheckoutSessionEndpoint } from './get-checkout-session.ts';
export { writeCheckout } from './write-checkout.ts';
