import type { Principal } from '@attribution/auth';
import { Problem } from '@attribution/contracts';

/** The groups that who imports held, with the role in each; null: all of the account, as an admin. */
export type Grants = Readonly<Record<string, 'a' | 'm'>> | null;

const isAdmin = ({ groups, role }: Principal) => groups === null && (role === 'owner' || role === 'admin');

/** What an import of the caller may touch, however long it takes. Throws `forbidden` where that is nothing. */
export function grantsOf(caller: Principal): Grants {
  if (isAdmin(caller)) return null;
  const grants = Object.fromEntries(caller.groups ?? []);
  if (Object.values(grants).includes('a')) return grants;
  throw new Problem('forbidden', 'Only an owner, an admin or an admin of a group imports.');
}

/** Whose imports the caller sees; undefined: everybody's of the account. */
export const makerSeenBy = (caller: Principal) => (isAdmin(caller) ? undefined : caller.id);

export const seesWith = (grants: Grants, groupId: string) => grants === null || grants[groupId] !== undefined;
export const setsUpWith = (grants: Grants, groupId: string) => grants === null || grants[groupId] === 'a';
