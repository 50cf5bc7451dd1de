import { accountClosed } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { on } from '@attribution/messaging';
import { markClosed } from './closed.store.ts';

export const onAccountClosed = on(accountClosed, (tx: Sql, { data, occurredAt }) =>
  markClosed(tx, data.account_id, occurredAt),
);
