import { getApiKey, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findApiKey } from './api-key.store.ts';
import { viewApiKey } from './api-key.view.ts';

export const getApiKeyEndpoint = (database: AccountDatabase) =>
  implement(getApiKey, async ({ params, caller }) => {
    const key = await findApiKey(database.prisma, caller.accountId, params.id);
    if (!key) throw Problem.notFound();
    return viewApiKey(key);
  });
