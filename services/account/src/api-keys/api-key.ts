import { administersGroup, type Principal, serviceAccess } from '@attribution/auth';
import { Problem, serviceNames } from '@attribution/contracts';

const day = 24 * 60 * 60 * 1000;
/** The longest time from creation to expiry, for a key that expires. */
const longestLife = 90 * day;

export interface Grant {
  readonly group_id: string;
  readonly role: 'a' | 'm';
}

interface Times {
  readonly created_at: Date;
  readonly expires_at: Date | null;
  readonly rotated_at: Date | null;
  readonly revoked_at: Date | null;
}

/** The expiry requested for a new key; null means that it never expires. Throws `validation-error`. */
export function newExpiry(
  { expires_in, expires_at }: { expires_in?: number | undefined; expires_at?: string | undefined },
  now: Date,
): Date | null {
  if (expires_in !== undefined && expires_at !== undefined)
    throw new Problem('validation-error', 'body.expires_at: give it or expires_in, not both.');
  if (expires_in !== undefined) return new Date(now.getTime() + expires_in);
  return expires_at === undefined ? null : readExpiry(expires_at, now, now);
}

/** Parses a time that must be in the future and within 90 days of `from`. */
function readExpiry(text: string, from: Date, now: Date): Date {
  const at = new Date(text);
  if (at <= now) throw new Problem('validation-error', `body.expires_at: ${text} is not in the future.`);
  if (at.getTime() - from.getTime() > longestLife)
    throw new Problem('validation-error', `body.expires_at: ${text} is more than 90 days after ${from.toISOString()}.`);
  return at;
}

/** The expiry after a PATCH (decision 24). Throws `validation-error`, or `conflict` on a rotated key. */
export function changedExpiry(key: Times, requested: string | null, now: Date): Date | null {
  if (requested !== null && now.getTime() - key.created_at.getTime() > longestLife)
    throw new Problem('validation-error', 'body.expires_at: the key is older than 90 days; rotate it.');
  const expiry = requested === null ? null : readExpiry(requested, key.created_at, now);
  const later = expiry === null || (key.expires_at !== null && expiry > key.expires_at);
  if (key.rotated_at && later)
    throw new Problem('conflict', 'body.expires_at: the key was rotated, so its end can only come sooner.');
  return expiry;
}

/** The expiries of the old and the new key after a rotation (decision 25). */
export function rotatedExpiries(key: Times, grace: number, now: Date): { old: Date; renewed: Date | null } {
  const end = now.getTime() + grace;
  const old = new Date(key.expires_at ? Math.min(key.expires_at.getTime(), end) : end);
  if (key.expires_at === null) return { old, renewed: null };
  return { old, renewed: new Date(now.getTime() + (key.expires_at.getTime() - key.created_at.getTime())) };
}

/**
 * Why a key cannot be exchanged for a token, or undefined when it can. Only a caller with the right secret may see
 * this.
 */
export function refusalOf({ revoked_at, expires_at }: Pick<Times, 'revoked_at' | 'expires_at'>, now: Date) {
  if (revoked_at) return 'This API key is revoked.';
  if (expires_at && expires_at <= now) return 'This API key has expired.';
  return undefined;
}

const rank = { viewer: 0, member: 1, admin: 2, owner: 3 } as const;

/** The rights that a request gives to a key. An undefined field stays unchanged. */
interface Given {
  readonly role?: 'viewer' | 'member' | 'admin' | undefined;
  readonly readonly?: boolean | undefined;
  readonly group_scope?: 'all' | 'selected' | undefined;
  readonly groups?: readonly Grant[] | undefined;
}

/** A caller cannot give a key more rights than the caller has (spec §4.3). Throws `forbidden`. */
export function requireGivable(caller: Principal, given: Given): void {
  const { role, group_scope, groups = [] } = given;
  if (role && rank[role] > rank[caller.role]) throw new Problem('forbidden', `The role ${role} is above your own.`);
  requireServices(caller, given);
  if (group_scope === 'all' && caller.groups)
    throw new Problem('forbidden', 'The group_scope all is wider than your own.');
  const foreign = groups.find(({ group_id }) => !administersGroup(caller, group_id));
  if (foreign) throw new Problem('forbidden', `You do not administer the group ${foreign.group_id}.`);
}

/** A key can use every service (billing only with the role `admin`), so the caller must have all of them. */
function requireServices(caller: Principal, { role = 'member', readonly }: Given): void {
  if (readonly === undefined) return;
  const needed = readonly || role === 'viewer' ? ['r', 'w'] : ['w'];
  const entered = serviceNames.filter((name) => name !== 'billing' || role === 'admin');
  const missing = entered.find((name) => !needed.includes(serviceAccess(caller, name) ?? ''));
  if (missing) throw new Problem('forbidden', `A key has every service, and you do not have ${missing} to give.`);
}

/** Throws `validation-error` when the groups do not match the scope. */
export function requireScope(scope: 'all' | 'selected', groups: readonly Grant[]): void {
  if (scope === 'selected' && groups.length === 0)
    throw new Problem('validation-error', 'body.groups: must not be empty when group_scope is selected.');
  if (scope === 'all' && groups.length > 0)
    throw new Problem('validation-error', 'body.groups: must be empty when group_scope is all.');
}
