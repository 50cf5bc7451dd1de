import { Problem } from '@attribution/contracts';
import { ProviderError } from './payment-provider.ts';

/** The provider's own words name its objects, and are logged. */
const conflicts = {
  declined: 'The payment was declined: nothing was changed.',
  refused: 'The payment provider refuses this as things stand.',
};

/** What a caller is told of the provider's failure; anything else goes on as it is. */
export function providerProblem(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error;
  if (error.kind === 'unavailable') {
    const detail = 'The payment provider did not answer. Try again: nothing is charged twice.';
    return new Problem('upstream-error', detail, { 'retry-after': '1' });
  }
  if (error.kind === 'not_found')
    return new Problem('upstream-error', 'The payment provider does not know this account any more.');
  return new Problem('conflict', conflicts[error.kind]);
}

/** The same where what is asked for is a thing of the caller's: without it the answer is `not-found`. */
export function thingProblem(error: unknown): unknown {
  return error instanceof ProviderError && error.kind === 'not_found' ? Problem.notFound() : providerProblem(error);
}
