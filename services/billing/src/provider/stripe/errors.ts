import pTimeout from 'p-timeout';
import Stripe from 'stripe';
import { ProviderError } from '../payment-provider.ts';

const { errors } = Stripe;

/** Runs what asks Stripe; every failure becomes a ProviderError. */
export async function asked<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw providerErrorOf(error);
  }
}

/** The same for what comes one by one. */
export async function* askedEach<T>(call: () => AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* call();
  } catch (error) {
    throw providerErrorOf(error);
  }
}

/** However many requests it takes, and whatever they wait for. What is begun is done on, as under any lost answer. */
export async function askedWithin<T>(deadlineMs: number, call: () => Promise<T>): Promise<T> {
  const tooLate = new ProviderError('unavailable', 'Stripe: no answer in time');
  return pTimeout(asked(call), { milliseconds: deadlineMs, message: tooLate });
}

/** The original is not kept as its cause: it carries the answer's body, which is not for logs. */
function providerErrorOf(error: unknown): ProviderError {
  if (error instanceof ProviderError) return error;
  if (!(error instanceof errors.StripeError)) {
    return new ProviderError('unavailable', 'Stripe answered what is not understood', { cause: error });
  }
  const { statusCode, code, decline_code, requestId, message } = error;
  const facts = [statusCode, code, decline_code, requestId].filter((fact) => fact !== undefined && fact !== null);
  return new ProviderError(kindOf(error), `Stripe: ${withoutKeys(message)} (${facts.join(', ') || 'no answer'})`);
}

function kindOf(error: InstanceType<typeof errors.StripeError>): ProviderError['kind'] {
  const { statusCode, code } = error;
  if (error instanceof errors.StripeCardError) return 'declined';
  if (statusCode === 404 || code === 'resource_missing') return 'not_found';
  if (error instanceof errors.StripeRateLimitError) return 'unavailable';
  if (error instanceof errors.StripeInvalidRequestError || error instanceof errors.StripeIdempotencyError)
    return 'refused';
  // What is left: no answer, 5xx, 409 while another request holds the key, and 401 or 403, which is about our key and
  // not about the request: that succeeds when the key has been mended.
  return 'unavailable';
}

/** Stripe masks the key that it quotes; whoever else answers for it may not. */
function withoutKeys(text: string): string {
  return text.replace(/\b(?:sk|rk|whsec)_[\w*]+/g, '[key]');
}
