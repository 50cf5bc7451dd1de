import { getMe, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { viewUser } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { findUser } from './user.store.ts';

export const getMeEndpoint = (database: AccountDatabase) =>
  implement(getMe, async ({ caller }) => {
    const user = await findUser(database.prisma, caller.id);
    if (!user) throw new Problem('unauthorized', 'This user does not exist any more.');
    return viewUser(user);
  });
