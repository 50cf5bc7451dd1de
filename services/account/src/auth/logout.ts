import { logout } from '@attribution/contracts';
import { type Clock, implement } from '@attribution/service';
import { endSessions } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';

/** A key's token belongs to no session: nothing to end. */
export const logoutEndpoint = ({ database, clock }: { database: AccountDatabase; clock: Clock }) =>
  implement(logout, async ({ caller }) => {
    if (!caller.sessionId) return;
    await endSessions(database.prisma, { id: caller.sessionId, user_id: caller.id }, 'logout', clock.now());
  });
