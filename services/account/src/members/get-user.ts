import { getUser, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findMember } from './member.store.ts';
import { viewMember } from './member.view.ts';

export const getUserEndpoint = (database: AccountDatabase) =>
  implement(getUser, async ({ params, caller }) => {
    const member = await findMember(database.prisma, caller.accountId, params.id);
    if (!member) throw Problem.notFound();
    return viewMember(member);
  });
