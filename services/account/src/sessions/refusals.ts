import { createHmac } from 'node:crypto';
import type { RequestContext } from '@attribution/http';
import type { Clock } from '@attribution/runtime';
import { audit, person, unknownActor } from '../audit/index.ts';
import type { AccountDatabase } from '../store.ts';
import { homeOf } from './membership.ts';
import { findMemberships } from './session.store.ts';

interface Refusal {
  readonly action: 'session.opened' | 'user.password_reset';
  /** The exact reason, which the response does not reveal. */
  readonly reason: string;
  /** The user of the address; null when no user has it. */
  readonly userId: string | null;
  /** The address in the request, in lower case. For an unknown address only a keyed hash is kept. */
  readonly emailKey?: string;
  /** Whether the caller has proved to be the user. */
  readonly proven?: boolean;
  readonly request: RequestContext;
}

/** Records refused sign-ins in the audit log. */
export interface Refusals {
  /**
   * Sends the same statements for a known user and an unknown address, so that the response time does not reveal which
   * it is.
   */
  record(refusal: Refusal): Promise<void>;
}

/**
 * An unknown address can be anything, even a password typed into the wrong field. The log therefore keeps only a keyed
 * hash of it, which shows that attempts belong together but reveals nothing to a reader of the log.
 */
export function createRefusals(deps: { database: AccountDatabase; clock: Clock; pepper: string }): Refusals {
  const { database, clock } = deps;
  const key = createHmac('sha256', deps.pepper).update('addresses in the audit log').digest();
  const markOf = (emailKey: string) => createHmac('sha256', key).update(emailKey).digest('base64url');

  return {
    async record({ action, reason, userId, emailKey, proven = false, request }) {
      const accountId = homeOf(await findMemberships(database.prisma, userId));
      const mark = emailKey === undefined ? undefined : markOf(emailKey);
      await audit(database.prisma, {
        accountId,
        action,
        outcome: 'refused',
        actor: proven && userId !== null ? person(userId) : unknownActor,
        ...(userId !== null && { subject: { type: 'user', id: userId } }),
        details: { reason, ...(userId === null && mark !== undefined && { address_mark: mark }) },
        request,
        now: clock.now(),
      });
    },
  };
}
