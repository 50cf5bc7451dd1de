import { accountCreated, accountPurged } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { on } from '@attribution/messaging';
import { deleteCustomer, putCustomer } from './customer.store.ts';

export const onAccountCreated = on(accountCreated, (tx: Sql, { data, occurredAt }) =>
  putCustomer(tx, { accountId: data.account_id, name: data.name, now: occurredAt }),
);

export const onAccountPurged = on(accountPurged, (tx: Sql, { data }) => deleteCustomer(tx, data.account_id));
