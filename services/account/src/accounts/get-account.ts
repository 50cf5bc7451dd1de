import { getAccount, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { viewAccount } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { findAccount } from './account.store.ts';

export const getAccountEndpoint = ({ prisma }: AccountDatabase) =>
  implement(getAccount, async ({ params, caller }) => {
    if (params.id !== caller.accountId) throw Problem.notFound();
    return viewAccount(await findAccount(prisma, params.id));
  });
