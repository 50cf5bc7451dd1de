import { Problem } from '@attribution/contracts';
import { ProviderError } from './payment-provider.ts';

/** What a caller is told of the provider's failure; anything else goes on as it is. */
export function providerProblem(error: unknown): unknown {
  if (!(error instanceof ProviderError)) return error;
  if (error.kind === 'not_found') return Problem.notFound();
  if (error.kind === 'unavailable') {
    const detail = 'The payment provider did not answer. Try again: nothing is charged twice.';
    return new Problem('upstream-error', detail, { 'retry-after': '1' });
  }
  return new Problem('conflict', error.message);
}
