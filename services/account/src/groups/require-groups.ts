import { type Client, lookUpGroups, Problem } from '@attribution/contracts';
import type { Logger } from 'pino';
import type { AccountDatabase } from '../store.ts';
import { findKnownGroups } from './known-group.store.ts';

/** How long to wait for a response from Organization, in milliseconds. Short, because a caller is waiting. */
const lookUpTimeout = 3_000;

/** Throws `unprocessable` for a group that the account does not have. */
export type RequireGroups = (accountId: string, ids: readonly string[], where: string) => Promise<void>;

/**
 * Groups are known from Organization's events. A group that is not known yet, because it was created a moment ago, is
 * looked up at Organization. Called before the transaction, so that no transaction stays open during a call to another
 * service.
 */
export function createRequireGroups(deps: {
  database: AccountDatabase;
  organization: Client;
  logger: Logger;
}): RequireGroups {
  const organization = deps.organization.with({ timeout: lookUpTimeout });

  async function lookUp(accountId: string, ids: readonly string[]) {
    try {
      const query = { account_id: accountId, ids: ids.join(',') };
      return (await organization.call(lookUpGroups, { query })).body.entries;
    } catch (error) {
      deps.logger.warn({ err: error }, 'Groups could not be looked up');
      throw new Problem('upstream-error', 'The groups could not be looked up. Try again.', { 'retry-after': '1' });
    }
  }

  return async (accountId, ids, where) => {
    if (ids.length === 0) return;
    const known = await findKnownGroups(deps.database.prisma, accountId, ids);
    const unknown = ids.filter((id) => !known.has(id));
    if (unknown.length > 0) for (const { id } of await lookUp(accountId, unknown)) known.add(id);
    const missing = ids.find((id) => !known.has(id));
    if (missing !== undefined)
      throw new Problem('unprocessable', `${where}: ${missing} is not a group of this account.`);
  };
}
