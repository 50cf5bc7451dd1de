import { listAccountTypes } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findActiveAccountTypes } from './account.store.ts';

export const listAccountTypesEndpoint = (database: AccountDatabase) =>
  implement(listAccountTypes, async () => {
    const types = await findActiveAccountTypes(database);
    return types.map(({ key, name, description }) => ({ key, name, description }));
  });
