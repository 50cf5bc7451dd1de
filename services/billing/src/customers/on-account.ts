import { accountCreated, accountPurged } from '@attribution/contracts';
import { on } from '@attribution/messaging';
import type { Tx } from '../store.ts';
import { deleteCustomer, putCustomer } from './customer.store.ts';

export const onAccountCreated = on(accountCreated, (tx: Tx, { data, occurredAt }) =>
  putCustomer(tx, { accountId: data.account_id, name: data.name, now: occurredAt }),
);

export const onAccountPurged = on(accountPurged, (tx: Tx, { data }) => deleteCustomer(tx, data.account_id));
