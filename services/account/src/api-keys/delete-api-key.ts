import { apiKeyRevoked, deleteApiKey, Problem } from '@attribution/contracts';
import { newEvent } from '@attribution/messaging';
import { implement } from '@attribution/service';
import { actorOf, audit } from '../audit/index.ts';
import { changeApiKey, lockApiKey } from './api-key.store.ts';
import type { KeyWriting } from './create-api-key.ts';

/** Done twice it changes nothing (decision 26). */
export const deleteApiKeyEndpoint = (parts: Pick<KeyWriting, 'database' | 'outbox' | 'clock'>) =>
  implement(deleteApiKey, async ({ params, caller, request }) => {
    const { database, outbox, clock } = parts;
    const { accountId } = caller;
    await database.transaction(async (tx) => {
      const key = await lockApiKey(tx, accountId, params.id);
      if (!key) throw Problem.notFound();
      if (key.revoked_at) return;
      const now = clock.now();
      await changeApiKey(tx, key.id, { revoked_at: now });
      await audit(tx, {
        accountId,
        action: 'api_key.revoked',
        actor: actorOf(caller),
        subject: { type: 'api_key', id: key.id },
        request,
        now,
      });
      await outbox.append(
        tx,
        newEvent(
          apiKeyRevoked,
          { account_id: accountId, api_key_id: key.id },
          { accountId, occurredAt: now, traceparent: request.traceparent },
        ),
      );
    });
  });
