import { apiKeyRotated, Problem, rotateApiKey } from '@attribution/contracts';
import { newEvent } from '@attribution/messaging';
import { implementWrite } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import { requireStanding } from '../sessions/index.ts';
import { endApiKey, insertApiKey, lockApiKey } from './api-key.store.ts';
import { requireGivable, rotatedExpiries } from './api-key.ts';
import { viewApiKey } from './api-key.view.ts';
import type { KeyWriting } from './create-api-key.ts';
import { requireKeyRoom } from './room.ts';
import { hashSecret, newKeyPair } from './secret.ts';

/** Of several concurrent rotations the row lock lets one succeed. The others find the key already rotated. */
export const rotateApiKeyEndpoint = ({
  database,
  outbox,
  notices,
  clock,
  keyEnvironment,
}: Omit<KeyWriting, 'requireGroups'>) =>
  implementWrite(rotateApiKey, database.transaction, async ({ params, body, caller, request, transaction }) => {
    const { accountId } = caller;
    const { accessKeyId, secret } = newKeyPair(keyEnvironment);
    return transaction(async (tx) => {
      const standing = await requireStanding(tx, rotateApiKey, caller);
      const old = await lockApiKey(tx, accountId, params.id);
      if (!old) throw Problem.notFound();
      if (old.revoked_at) throw new Problem('conflict', 'This API key is revoked.');
      if (old.rotated_at) throw new Problem('conflict', 'This API key was rotated already.');
      const { name, role, type, readonly, group_scope, grants: groups } = old;
      for (const holder of [caller, standing]) requireGivable(holder, { role, readonly, group_scope, groups });
      const now = clock.now();
      const expiries = rotatedExpiries(old, body?.grace ?? 0, now);
      await endApiKey(tx, old.id, { rotated_at: now, expires_at: expiries.old });
      // With a grace the old one lives on beside the new one.
      await requireKeyRoom(tx, { accountId, now }, 'conflict');
      const renewed = await insertApiKey(tx, {
        accountId,
        name,
        role,
        type,
        readonly,
        group_scope,
        groups,
        accessKeyId,
        secretHash: hashSecret(secret),
        createdBy: caller.id,
        expiresAt: expiries.renewed,
        now,
      });
      await audit(tx, {
        accountId,
        action: 'api_key.rotated',
        actor: actorOf(caller),
        subject: { type: 'api_key', id: old.id },
        details: { new_api_key_id: renewed.id, old_expires_at: expiries.old.toISOString() },
        request,
        now,
      });
      const data = { account_id: accountId, api_key_id: old.id, new_api_key_id: renewed.id };
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      await outbox.append(tx, newEvent(apiKeyRotated, data, context));
      await notices.tell(tx, caller.id, { kind: 'api_key_rotated', keyId: renewed.id }, request);
      return { ...viewApiKey(renewed), access_key_secret: secret };
    });
  });
