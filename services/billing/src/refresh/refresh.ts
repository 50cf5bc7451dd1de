import type { Logger } from 'pino';
import { actOnFraudWarning } from '../disputes/index.ts';
import { type PaymentProvider, ProviderError } from '../provider/index.ts';
import type { BillingDatabase, Refresh, WriteFor } from '../store.ts';
import { type Kept, keepers } from './keepers.ts';
import { findAccountOf } from './owner.store.ts';

export interface RefreshDependencies {
  readonly database: BillingDatabase;
  readonly provider: PaymentProvider;
  readonly writeFor: WriteFor;
  readonly logger: Logger;
  /** Whether to refund a payment that its bank suspects to be fraud. */
  readonly refundsFraudWarnings: boolean;
}

export function createRefresh(deps: RefreshDependencies): Refresh {
  const { database, provider, writeFor, logger, refundsFraudWarnings } = deps;
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

  async function heed(warningId: string): Promise<void> {
    if (!refundsFraudWarnings) return;
    const { payment_id } = await provider.getFraudWarning(warningId);
    if ((await accountOf('payment', payment_id)) === undefined) return;
    await actOnFraudWarning({ provider, refresh, logger }, warningId);
  }

  const refresh: Refresh = async (kind, id) => {
    if (kind === 'other') return;
    try {
      if (kind === 'setup') return await useCard(id);
      if (kind === 'fraud_warning') return await heed(id);
      const accountId = await accountOf(kind, id);
      if (accountId === undefined) logger.debug({ kind, id }, 'A notification is about an object of no account here');
      else await writeFor(accountId, (writing) => keepers[kind].write(writing, provider, id));
    } catch (error) {
      if (!(error instanceof ProviderError && error.kind === 'not_found')) throw error;
      logger.warn({ kind, id }, 'A notification is about an object that the provider does not have');
    }
  };
  return refresh;
}
