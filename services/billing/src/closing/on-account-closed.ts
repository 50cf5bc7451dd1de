import { accountClosed } from '@attribution/contracts';
import { on } from '@attribution/messaging';
import type { Tx } from '../store.ts';
import { markClosed } from './closed.store.ts';

export const onAccountClosed = on(accountClosed, (tx: Tx, { data, occurredAt }) =>
  markClosed(tx, data.account_id, occurredAt),
);
