import type { NewEvent, Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/service';
import { lockCustomer } from '../customers/index.ts';
import type { BillingDatabase, WriteFor } from '../store.ts';

export interface WriteParts {
  readonly database: BillingDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

export const createWriteFor =
  ({ database, outbox, clock }: WriteParts): WriteFor =>
  (accountId, work) =>
    database.sqlTransaction(async (tx) => {
      const customer = await lockCustomer(tx, accountId);
      if (!customer) throw new Error(`No customer ${accountId}`);
      const told: NewEvent[] = [];
      const result = await work({
        tx,
        customer,
        ledger: { ledger_cents: customer.ledger_cents, last_seq: customer.last_seq },
        context: { accountId, occurredAt: clock.now() },
        tell: (event) => void told.push(event),
      });
      await outbox.append(tx, ...told);
      return result;
    });
