import type { Logger } from 'pino';
import { type PaymentProvider, ProviderError } from '../provider/index.ts';
import type { BillingDatabase, Refresh, WriteFor } from '../store.ts';
import { type Kept, keepers } from './keepers.ts';
import { findAccountOf } from './owner.store.ts';

export interface RefreshDependencies {
  readonly database: BillingDatabase;
  readonly provider: PaymentProvider;
  readonly writeFor: WriteFor;
  readonly logger: Logger;
}

export function createRefresh({ database, provider, writeFor, logger }: RefreshDependencies): Refresh {
  /** The account of an object. For an object that is not stored yet, the provider is asked. */
  async function accountOf(kind: Kept, id: string): Promise<string | undefined> {
    const known = await findAccountOf(database.sql, kind, id);
    if (known !== undefined) return known;
    const owner = await keepers[kind].ownerOf(provider, id);
    return findAccountOf(database.sql, owner.kind, owner.id);
  }

  /** Only for our own customers: others may use the same account at the provider. */
  async function useCard(setupId: string): Promise<void> {
    const { customer_id } = await provider.getSetup(setupId);
    const accountId = await findAccountOf(database.sql, 'customer', customer_id);
    if (accountId !== undefined) await provider.useSavedCard(setupId, `saved-${setupId}`);
  }

  return async (kind, id) => {
    if (kind === 'other') return;
    try {
      if (kind === 'setup') return await useCard(id);
      const accountId = await accountOf(kind, id);
      if (accountId === undefined) logger.debug({ kind, id }, 'A notification is about an object of no account here');
      else await writeFor(accountId, (writing) => keepers[kind].write(writing, provider, id));
    } catch (error) {
      if (!(error instanceof ProviderError && error.kind === 'not_found')) throw error;
      logger.warn({ kind, id }, 'A notification is about an object that the provider does not have');
    }
  };
}
