import { createHmac } from 'node:crypto';
import type { RequestContext } from '@attribution/http';
import type { Clock } from '@attribution/runtime';
import { audit, nobody, person } from '../audit/index.ts';
import type { AccountDatabase } from '../store.ts';
import { homeOf } from './membership.ts';
import { findMemberships } from './session.store.ts';

interface Refusal {
  readonly action: 'session.opened' | 'user.password_reset';
  /** What was wrong: more than the answer tells. */
  readonly reason: string;
  /** Whom it would have been; null: no user has the address. */
  readonly userId: string | null;
  /** The address that was given, in lower case; where there is no user it is kept as a mark. */
  readonly emailKey?: string;
  /** Whoever asked has proved to be the user. */
  readonly proven?: boolean;
  readonly request: RequestContext;
}

/** Tells the audit log of sign-ins that were refused. */
export interface Refusals {
  /** Sends the same statements for a user and for nobody: time does not tell them apart. */
  record(refusal: Refusal): Promise<void>;
}

/**
 * An address that no user has may be anything, a password typed into the wrong field too: the log keeps a keyed hash of
 * it, which shows that attempts belong together, and nothing to whoever reads the log alone.
 */
export function createRefusals(parts: { database: AccountDatabase; clock: Clock; pepper: string }): Refusals {
  const { database, clock } = parts;
  const key = createHmac('sha256', parts.pepper).update('addresses in the audit log').digest();
  const markOf = (emailKey: string) => createHmac('sha256', key).update(emailKey).digest('base64url');

  return {
    async record({ action, reason, userId, emailKey, proven = false, request }) {
      const accountId = homeOf(await findMemberships(database.prisma, userId));
      const mark = emailKey === undefined ? undefined : markOf(emailKey);
      await audit(database.prisma, {
        accountId,
        action,
        outcome: 'refused',
        actor: proven && userId !== null ? person(userId) : nobody,
        ...(userId !== null && { subject: { type: 'user', id: userId } }),
        details: { reason, ...(userId === null && mark !== undefined && { address_mark: mark }) },
        request,
        now: clock.now(),
      });
    },
  };
}
