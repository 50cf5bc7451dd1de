import { getBalance, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findOpenGrants } from './grant.store.ts';
import { findBalance } from './ledger.store.ts';

export const getBalanceEndpoint = (database: AccountDatabase) =>
  implement(getBalance, async ({ params, caller }) => {
    if (params.id !== caller.accountId) throw Problem.notFound();
    const [balance, grants] = await Promise.all([
      findBalance(database, params.id),
      findOpenGrants(database, params.id),
    ]);
    if (!balance) throw Problem.notFound();
    return {
      account_id: balance.account_id,
      posted: Number(balance.posted),
      held: Number(balance.held),
      available: Number(balance.posted - balance.held),
      grants: grants.map((grant) => ({
        id: grant.entry_id,
        amount: Number(grant.amount),
        remaining: Number(grant.remaining),
        priority: grant.priority,
        expires_at: grant.expires_at?.toISOString() ?? null,
        created_at: grant.created_at.toISOString(),
      })),
    };
  });
