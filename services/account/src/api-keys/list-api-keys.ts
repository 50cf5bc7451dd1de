import { listApiKeys } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findApiKeys } from './api-key.store.ts';
import { viewApiKey } from './api-key.view.ts';

export const listApiKeysEndpoint = (database: AccountDatabase) =>
  implement(listApiKeys, async ({ caller }) => (await findApiKeys(database, caller.accountId)).map(viewApiKey));
