import { Problem, updateApiKey } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import { changeApiKey, lockApiKey, readonlyFor } from './api-key.store.ts';
import { changedExpiry, requireGivable, requireScope } from './api-key.ts';
import { viewApiKey } from './api-key.view.ts';
import type { KeyWriting } from './create-api-key.ts';

export const updateApiKeyEndpoint = (parts: Omit<KeyWriting, 'outbox' | 'keyEnvironment'>) =>
  implement(updateApiKey, async ({ params, body, caller, request }) => {
    const { database, clock } = parts;
    const { accountId } = caller;
    const groups = body.groups ?? [];
    requireGivable(caller, { role: 'viewer', groups });
    await parts.requireGroups(
      accountId,
      groups.map(({ group_id }) => group_id),
      'body.groups',
    );
    return database.transaction(async (tx) => {
      const key = await lockApiKey(tx, accountId, params.id);
      if (!key) throw Problem.notFound();
      if (key.revoked_at) throw new Problem('conflict', 'This API key is revoked.');
      const now = clock.now();
      const scope = body.group_scope ?? key.group_scope;
      // A scope of all leaves no grants; a change of the scope alone keeps those there are.
      const grants = body.groups ?? (scope === 'all' ? [] : key.grants);
      requireScope(scope, grants);
      const change = {
        ...(body.name !== undefined && { name: body.name }),
        ...(body.readonly !== undefined && { readonly: readonlyFor(key.role, body.readonly) }),
        ...(body.expires_at !== undefined && { expires_at: changedExpiry(key, body.expires_at, now) }),
        group_scope: scope,
      };
      const changed = viewApiKey(await changeApiKey(tx, key.id, change, grants));
      await audit(tx, {
        accountId,
        action: 'api_key.changed',
        actor: actorOf(caller),
        subject: { type: 'api_key', id: key.id },
        details: { fields: Object.keys(body) },
        request,
        now,
      });
      return changed;
    });
  });
