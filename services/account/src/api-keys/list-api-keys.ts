import { listApiKeys } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findApiKeys } from './api-key.store.ts';
import { viewApiKey } from './api-key.view.ts';

export const listApiKeysEndpoint = ({ database, clock }: { database: AccountDatabase; clock: Clock }) =>
  implement(listApiKeys, async ({ caller }) => {
    const found = await findApiKeys(database, caller.accountId, clock.now());
    return found.map(viewApiKey);
  });
