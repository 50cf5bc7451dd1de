import { type ApiKeyChange, Problem, updateApiKey } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { z } from 'zod';
import { actorOf, audit, changesIn } from '../audit/index.ts';
import { requireStanding } from '../sessions/index.ts';
import { type ApiKeyRow, changeApiKey, lockApiKey, readonlyFor } from './api-key.store.ts';
import { changedExpiry, type Grant, refusalOf, requireGivable, requireScope } from './api-key.ts';
import { viewApiKey } from './api-key.view.ts';
import type { KeyWriting } from './create-api-key.ts';
import { requireKeyRoom } from './room.ts';

export const updateApiKeyEndpoint = (deps: Omit<KeyWriting, 'outbox' | 'keyEnvironment'>) =>
  implement(updateApiKey, async ({ params, body, caller, request }) => {
    const { database, clock } = deps;
    const { accountId } = caller;
    const { name, readonly, group_scope, groups, expires_at } = body;
    if (group_scope && groups) requireScope(group_scope, groups);
    requireGivable(caller, body);
    await deps.requireGroups(accountId, groups?.map(({ group_id }) => group_id) ?? [], 'body.groups');
    return database.transaction(async (tx) => {
      const standing = await requireStanding(tx, updateApiKey, caller);
      const key = await lockApiKey(tx, accountId, params.id);
      if (!key) throw Problem.notFound();
      if (key.revoked_at) throw new Problem('conflict', 'This API key is revoked.');
      requireGivable(standing, { ...body, role: key.role });
      const now = clock.now();
      const grants = grantsAfter(key, body);
      const change = {
        ...(name !== undefined && { name }),
        ...(readonly !== undefined && { readonly: readonlyFor(key.role, readonly) }),
        ...(group_scope !== undefined && { group_scope }),
        ...(expires_at !== undefined && { expires_at: changedExpiry(key, expires_at, now) }),
      };
      const revived = refusalOf(key, now) !== undefined && refusalOf({ ...key, ...change }, now) === undefined;
      if (revived) await requireKeyRoom(tx, { accountId, now });
      const changed = viewApiKey(await changeApiKey(tx, key, change, grants));
      const details = changesIn(viewApiKey(key), changed);
      if (Object.keys(details).length === 0) return changed;
      await audit(tx, {
        accountId,
        action: 'api_key.changed',
        actor: actorOf(caller),
        subject: { type: 'api_key', id: key.id },
        details,
        request,
        now,
      });
      return changed;
    });
  });

/** The scope `all` removes all grants. Undefined means that the grants stay, even if their groups no longer exist. */
function grantsAfter(
  key: ApiKeyRow,
  { group_scope, groups }: z.output<typeof ApiKeyChange>,
): readonly Grant[] | undefined {
  if (group_scope === undefined && groups === undefined) return undefined;
  const scope = group_scope ?? key.group_scope;
  const grants = groups ?? (scope === 'all' ? [] : key.grants);
  requireScope(scope, grants);
  return grants;
}
