import { apiKeyRevoked, deleteApiKey, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { actorOf } from '../audit/index.ts';
import { endApiKey, lockApiKey } from './api-key.store.ts';
import type { KeyWriting } from './create-api-key.ts';
import { recordKeys } from './record-keys.ts';

/** Deleting a key again changes nothing (decision 26). */
export const deleteApiKeyEndpoint = (deps: Pick<KeyWriting, 'database' | 'outbox' | 'clock'>) =>
  implement(deleteApiKey, async ({ params, caller, request }) => {
    const { database, outbox, clock } = deps;
    const { accountId } = caller;
    await database.transaction(async (tx) => {
      const key = await lockApiKey(tx, accountId, params.id);
      if (!key) throw Problem.notFound();
      if (key.revoked_at) return;
      const now = clock.now();
      await endApiKey(tx, key.id, { revoked_at: now });
      const occasion = { accountId, actor: actorOf(caller), request, now };
      await recordKeys(tx, outbox, occasion, { event: apiKeyRevoked, keyId: key.id });
    });
  });
