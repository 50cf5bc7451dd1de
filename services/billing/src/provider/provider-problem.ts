import { Problem } from '@attribution/contracts';
import { ProviderError } from './payment-provider.ts';

/** The provider's own messages are only logged, because they contain ids of its objects. */
const conflicts = {
  declined: 'The payment was declined: nothing was changed.',
  refused: 'The payment provider refuses this as things stand.',
};

/** The problem that a caller gets for a failure of the provider. Other errors are returned unchanged. */
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

/** The same for a request about an object of the caller's: `not_found` becomes `not-found`. */
export function thingProblem(error: unknown): unknown {
  return error instanceof ProviderError && error.kind === 'not_found' ? Problem.notFound() : providerProblem(error);
}
