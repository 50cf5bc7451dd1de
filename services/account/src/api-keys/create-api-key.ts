import { apiKeyCreated, createApiKey, Problem } from '@attribution/contracts';
import type { Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implementWrite } from '@attribution/service';
import { actorOf } from '../audit/index.ts';
import type { RequireGroups } from '../groups/index.ts';
import type { Notices } from '../notices/index.ts';
import { requireStanding } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { insertApiKey } from './api-key.store.ts';
import { newExpiry, requireGivable, requireScope } from './api-key.ts';
import { viewApiKey } from './api-key.view.ts';
import { recordKeys } from './record-keys.ts';
import { requireKeyRoom } from './room.ts';
import { hashSecret, type KeyEnvironment, newKeyPair } from './secret.ts';

export interface KeyWriting {
  readonly database: AccountDatabase;
  readonly outbox: Outbox;
  readonly notices: Notices;
  readonly clock: Clock;
  readonly requireGroups: RequireGroups;
  readonly keyEnvironment: KeyEnvironment;
}

/**
 * Checks in the order of decision 23: malformed input, rights that the caller cannot give, groups that do not exist.
 */
export const createApiKeyEndpoint = ({ database, outbox, notices, clock, requireGroups, keyEnvironment }: KeyWriting) =>
  implementWrite(createApiKey, database.transaction, async ({ body, caller, request, transaction }) => {
    const { accountId } = caller;
    const now = clock.now();
    requireScope(body.group_scope, body.groups);
    const expiresAt = newExpiry(body, now);
    if (body.type !== 'api')
      throw new Problem('forbidden', `body.type: ${body.type} keys are made by the platform itself.`);
    requireGivable(caller, body);
    await requireGroups(
      accountId,
      body.groups.map(({ group_id }) => group_id),
      'body.groups',
    );
    const { accessKeyId, secret } = newKeyPair(keyEnvironment);
    return transaction(async (tx) => {
      requireGivable(await requireStanding(tx, createApiKey, caller), body);
      await requireKeyRoom(tx, { accountId, now });
      const key = await insertApiKey(tx, {
        ...body,
        accountId,
        accessKeyId,
        secretHash: hashSecret(secret),
        createdBy: caller.id,
        expiresAt,
        now,
      });
      const view = viewApiKey(key);
      const { name, role, readonly } = view;
      const details = { name, role, readonly };
      const occasion = { accountId, actor: actorOf(caller), request, now };
      await recordKeys(tx, outbox, occasion, { event: apiKeyCreated, keyId: key.id, details });
      await notices.tell(tx, caller.id, { kind: 'api_key_created', keyId: key.id }, request);
      return { ...view, access_key_secret: secret };
    });
  });
