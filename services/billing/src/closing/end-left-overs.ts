import { newUuid } from '@attribution/ids';
import type { Logger } from 'pino';
import { type PaymentProvider, ProviderError } from '../provider/index.ts';
import type { BillingDatabase, Refresh } from '../store.ts';
import { findLeftOvers, type LeftOver } from './closed.store.ts';

export interface ClosingDependencies {
  readonly database: BillingDatabase;
  readonly provider: PaymentProvider;
  readonly refresh: Refresh;
  readonly logger: Logger;
}

const batchSize = 100;

/**
 * Nobody can cancel for a closed account any more, so its subscription is set to end with its period and its checkout
 * pages are closed.
 */
export async function endLeftOvers(deps: ClosingDependencies): Promise<void> {
  for (const leftOver of await findLeftOvers(deps.database, batchSize)) {
    await end(deps, leftOver).catch((error: unknown) => {
      deps.logger.warn(
        { err: error, ...leftOver },
        'A subscription or checkout of a closed account could not be ended; it is tried again',
      );
    });
  }
}

async function end({ provider, refresh }: ClosingDependencies, { kind, id }: LeftOver): Promise<void> {
  try {
    if (kind === 'checkout') await provider.expireCheckout(id);
    else await provider.setCancelAtPeriodEnd(id, true, newUuid());
  } catch (error) {
    // It has already ended at the provider.
    if (!(error instanceof ProviderError && error.kind === 'refused')) throw error;
  }
  await refresh(kind, id);
}
