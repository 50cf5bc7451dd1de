import { newUuid } from '@attribution/ids';
import type { Logger } from 'pino';
import { type PaymentProvider, ProviderError } from '../provider/index.ts';
import type { BillingDatabase, Refresh } from '../store.ts';
import { findLeftOvers, type LeftOver } from './closed.store.ts';

export interface ClosingParts {
  readonly database: BillingDatabase;
  readonly provider: PaymentProvider;
  readonly refresh: Refresh;
  readonly logger: Logger;
}

const atOnce = 100;

/**
 * Nobody can cancel for a closed account any more, so its subscription is set to end with its period and its checkout
 * pages are closed.
 */
export async function endLeftOvers(parts: ClosingParts): Promise<void> {
  for (const left of await findLeftOvers(parts.database, atOnce)) {
    await end(parts, left).catch((error: unknown) => {
      parts.logger.warn(
        { err: error, ...left },
        'What a closed account has left could not be ended; it is tried again',
      );
    });
  }
}

async function end({ provider, refresh }: ClosingParts, { kind, id }: LeftOver): Promise<void> {
  try {
    if (kind === 'checkout') await provider.expireCheckout(id);
    else await provider.setCancelAtPeriodEnd(id, true, newUuid());
  } catch (error) {
    // It has already ended at the provider.
    if (!(error instanceof ProviderError && error.kind === 'refused')) throw error;
  }
  await refresh(kind, id);
}
