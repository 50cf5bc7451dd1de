import type { NewEvent, Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import pLimit from 'p-limit';
import { lockCustomer } from '../customers/index.ts';
import type { BillingDatabase, WriteFor, Writing } from '../store.ts';

export interface WriteDependencies {
  readonly database: BillingDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/**
 * The number of concurrent transactions. Each keeps a connection while it waits for the provider, and requests need
 * connections too.
 */
const maxTransactions = 4;

export function createWriteFor({ database, outbox, clock }: WriteDependencies): WriteFor {
  const lane = pLimit(maxTransactions);
  /**
   * The last transaction of each account. Transactions of one account are queued here, because while they wait for the
   * lock of its row each of them would occupy a connection.
   */
  const turns = new Map<string, Promise<unknown>>();

  return async (accountId, work) => {
    const before = turns.get(accountId);
    const mine = (async () => {
      await before?.catch(() => {});
      return lane(() => write(accountId, work));
    })();
    turns.set(accountId, mine);
    try {
      return await mine;
    } finally {
      if (turns.get(accountId) === mine) turns.delete(accountId);
    }
  };

  function write<T>(accountId: string, work: (writing: Writing) => Promise<T>): Promise<T> {
    return database.sqlTransaction(async (tx) => {
      const customer = await lockCustomer(tx, accountId);
      if (!customer) throw new Error(`No customer ${accountId}`);
      const events: NewEvent[] = [];
      const result = await work({
        tx,
        customer,
        ledger: { ledger_cents: customer.ledger_cents, last_seq: customer.last_seq },
        context: { accountId, occurredAt: clock.now() },
        publish: (event) => void events.push(event),
      });
      await outbox.append(tx, ...events);
      return result;
    });
  }
}
