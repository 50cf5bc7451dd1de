import pTimeout from 'p-timeout';
import Stripe from 'stripe';
import { ProviderError } from '../payment-provider.ts';

const { errors } = Stripe;

/** Calls Stripe and turns every failure into a `ProviderError`. */
export async function callStripe<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw providerErrorOf(error);
  }
}

/** The same for an async iterable. */
export async function* callStripeEach<T>(call: () => AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* call();
  } catch (error) {
    throw providerErrorOf(error);
  }
}

/**
 * The same with a deadline for the whole operation, however many requests it makes. A request that has begun is not
 * cancelled, so its result is unknown, as after any lost response.
 */
export async function callStripeWithin<T>(deadlineMs: number, call: () => Promise<T>): Promise<T> {
  const tooLate = new ProviderError('unavailable', 'Stripe: no answer in time');
  return pTimeout(callStripe(call), { milliseconds: deadlineMs, message: tooLate });
}

/**
 * The original error is not kept as the cause, because it contains the body of the response, which must not be logged.
 */
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
  // What remains: no response, 5xx, 409 while another request holds the key, and 401 or 403, which concern our API key
  // and not the request, so that a retry succeeds once the key is corrected.
  return 'unavailable';
}

/** Stripe masks an API key that it quotes, but a proxy in between may not. */
function withoutKeys(text: string): string {
  return text.replace(/\b(?:sk|rk|whsec)_[\w*]+/g, '[key]');
}
