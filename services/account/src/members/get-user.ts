import { getUser, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findSeenMember } from './member.store.ts';
import { viewMemberFor } from './member.view.ts';

export const getUserEndpoint = (database: AccountDatabase) =>
  implement(getUser, async ({ params, caller }) => {
    const member = await findSeenMember(database, caller, params.id);
    if (!member) throw Problem.notFound();
    return viewMemberFor(caller, member);
  });
