import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

export const receiveStripeWebhook = endpoint({
  operation: 'receive_stripe_webhook',
  method: 'POST',
  path: '/webhooks/stripe',
  service: 'billing',
  summary: 'Take a notification of the payment provider',
  description: 'Signed by its `Stripe-Signature`. It is a hint: what has changed is fetched from the provider.',
  access: { credential: 'none' },
  headers: z.object({ 'stripe-signature': z.string().optional().catch(undefined) }),
  raw: true,
  max_body_bytes: 256 * 1024, // A notification holds a whole invoice or subscription, with its items.
  success: { status: 200, description: 'It is written down' },
});
