import type { AccessClaims } from '@attribution/auth';
import { type ServiceName, serviceNames } from '@attribution/contracts';
import { z } from 'zod';
import type { AccountRow, UserRow } from './session.view.ts';

export type ServiceMap = Partial<Record<ServiceName | '*', 'r' | 'w'>>;

/** The membership of a user in an account. */
export interface Membership {
  readonly user_id: string;
  readonly account_id: string;
  readonly role: 'owner' | 'admin' | 'member';
  readonly group_scope: 'all' | 'selected';
  readonly services: ServiceMap | null;
  readonly billing: boolean;
  readonly status: 'active' | 'disabled';
  readonly joined_at: Date;
  readonly grants: readonly { readonly group_id: string; readonly role: 'a' | 'm' }[];
}

/** A membership with its account. */
export interface AccountMembership extends Membership {
  readonly account: AccountRow;
}

/** A user, and the membership in which a session is opened. */
export interface Place {
  readonly user: UserRow & { readonly require_mfa: boolean; readonly password_hash: string };
  readonly membership: AccountMembership;
}

export const ServiceMap = z.partialRecord(z.enum([...serviceNames, '*']), z.enum(['r', 'w']));

/** Owners and admins have billing access; a member needs it granted. */
export function hasBilling({ role, billing }: Pick<Membership, 'role' | 'billing'>): boolean {
  return role !== 'member' || billing;
}

/** The claims of spec §5.5 that follow from a membership. Claims that restrict nothing are omitted. */
export function claimsOf(membership: Membership, accountType: string): Omit<AccessClaims, 'sid' | 'key'> {
  const narrowed = membership.group_scope === 'selected';
  return {
    sub: membership.user_id,
    account: membership.account_id,
    role: membership.role,
    account_type: accountType,
    ...(narrowed && {
      group_scope: 'selected',
      groups: Object.fromEntries(membership.grants.map((grant) => [grant.group_id, grant.role])),
    }),
    ...(!hasBilling(membership) && { bil: 'n' }),
    ...(membership.services && { svc: membership.services }),
  };
}

/** The access of a membership to each service. Services without access are absent. */
export function expandServices(
  membership: Pick<Membership, 'role' | 'billing' | 'services'>,
): Partial<Record<ServiceName, 'r' | 'w'>> {
  const { services } = membership;
  const letterOf = (name: ServiceName) => (services === null ? 'w' : (services[name] ?? services['*']));
  const entries = serviceNames.flatMap((name) => {
    const letter = name === 'billing' && !hasBilling(membership) ? undefined : letterOf(name);
    return letter ? [[name, letter] as const] : [];
  });
  return Object.fromEntries(entries);
}

interface OpenMembership extends Membership {
  readonly account: { readonly status: 'active' | 'suspended' | 'closed' };
}

/** The account that the user owns, otherwise any account of the user; the earliest joined if there are several. */
function firstOf<M extends Membership>(memberships: readonly M[]): M | undefined {
  const sorted = memberships.toSorted((a, b) => a.joined_at.getTime() - b.joined_at.getTime());
  return sorted.find(({ role }) => role === 'owner') ?? sorted[0];
}

/** The account for a new session, among those that are open (spec §4.1, login rule 4). Undefined when none is open. */
export const chooseMembership = <M extends OpenMembership>(memberships: readonly M[]): M | undefined =>
  firstOf(memberships.filter(({ status, account }) => status === 'active' && account.status !== 'closed'));

/**
 * The account whose audit log records a login attempt: the one that the user would enter, otherwise the one the user
 * would enter if it were open.
 */
export const homeOf = (memberships: readonly OpenMembership[]): string | null =>
  (chooseMembership(memberships) ?? firstOf(memberships))?.account_id ?? null;
