import { getBalance, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findBalanceWithGrants } from './ledger.store.ts';

export const getBalanceEndpoint = (database: AccountDatabase) =>
  implement(getBalance, async ({ params, caller }) => {
    if (params.id !== caller.accountId) throw Problem.notFound();
    const balance = await findBalanceWithGrants(database, params.id);
    if (!balance) throw Problem.notFound();
    const { posted, held, grants } = balance;
    return {
      account_id: params.id,
      posted: Number(posted),
      held: Number(held),
      available: Number(posted - held),
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
