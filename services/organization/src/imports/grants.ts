import type { Principal } from '@attribution/auth';
import { Problem } from '@attribution/contracts';

/**
 * The groups that the creator of an import had, each with the role in it (`a` for admin, `m` for member); null for the
 * whole account, for an owner or admin.
 */
export type Grants = Readonly<Record<string, 'a' | 'm'>> | null;

const isAdmin = ({ groups, role }: Principal) => groups === null && (role === 'owner' || role === 'admin');

/** The rights that an import takes over from the caller. Throws `forbidden` if the caller may set up nothing. */
export function grantsOf(caller: Principal): Grants {
  if (isAdmin(caller)) return null;
  const grants = Object.fromEntries(caller.groups ?? []);
  if (Object.values(grants).includes('a')) return grants;
  throw new Problem('forbidden', 'Only an owner, an admin or an admin of a group imports.');
}

/** The creator whose imports the caller sees; undefined for all imports of the account. */
export const visibleCreator = (caller: Principal) => (isAdmin(caller) ? undefined : caller.id);

export const canSee = (grants: Grants, groupId: string) => grants === null || grants[groupId] !== undefined;
export const canSetUp = (grants: Grants, groupId: string) => grants === null || grants[groupId] === 'a';
