import { type Client, lookUpGroups, Problem } from '@attribution/contracts';
import type { AccountDatabase } from '../store.ts';
import { findKnownGroups } from './known-group.store.ts';

/** Throws `unprocessable` for a group that the account does not have. */
export type RequireGroups = (accountId: string, ids: readonly string[], where: string) => Promise<void>;

/**
 * Groups are known by Organization's events; one that was made a moment ago is asked for. Called before the
 * transaction, which no call to another service may prolong.
 */
export function createRequireGroups(parts: { database: AccountDatabase; organization: Client }): RequireGroups {
  async function lookUp(accountId: string, ids: readonly string[]) {
    try {
      const query = { account_id: accountId, ids: ids.join(',') };
      return (await parts.organization.call(lookUpGroups, { query })).body.entries;
    } catch {
      throw new Problem('upstream-error', 'The groups could not be looked up. Try again.', { 'retry-after': '1' });
    }
  }

  return async (accountId, ids, where) => {
    if (ids.length === 0) return;
    const known = await findKnownGroups(parts.database.prisma, accountId, ids);
    let missing = ids.filter((id) => !known.has(id));
    for (let at = 0; at < missing.length; at += lookedUpAtOnce) {
      for (const { id } of await lookUp(accountId, missing.slice(at, at + lookedUpAtOnce))) known.add(id);
    }
    missing = missing.filter((id) => !known.has(id));
    if (missing[0] !== undefined)
      throw new Problem('unprocessable', `${where}: ${missing[0]} is not a group of this account.`);
  };
}

const lookedUpAtOnce = 100;
