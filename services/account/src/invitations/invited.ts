import type { Principal } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import type { InvitationRow } from './invitation.store.ts';

/** A closed account can neither invite nor be entered. Throws `conflict`. */
export function requireActive<A extends { readonly status: string }>(account: A): A {
  if (account.status !== 'active') throw new Problem('conflict', `The account is ${account.status}.`);
  return account;
}

/** Returns the invitation if it can be accepted. Throws `not-found` or `gone`. */
export function requirePending(invitation: InvitationRow | undefined, now: Date): InvitationRow {
  if (!invitation) throw Problem.notFound();
  if (invitation.accepted_at) throw new Problem('gone', 'This invitation was accepted.');
  if (invitation.expires_at <= now) throw new Problem('gone', 'This invitation has expired: ask for another.');
  return invitation;
}

interface Invited {
  readonly id: string;
  readonly disabled_at: Date | null;
}

/**
 * Returns the user with the invited address, who must be signed in; undefined when there is no such user. Throws
 * `forbidden` or `unauthorized`.
 */
export function requireInvited<U extends Invited>(user: U | undefined, caller: Principal | undefined): U | undefined {
  if (caller && caller.id !== user?.id)
    throw new Problem('forbidden', 'You are signed in with another address than the invited one.');
  if (user && !caller)
    throw new Problem('unauthorized', 'There is a user with the invited address: sign in as that user.');
  if (user?.disabled_at) throw new Problem('forbidden', 'This user is disabled.');
  return user;
}
