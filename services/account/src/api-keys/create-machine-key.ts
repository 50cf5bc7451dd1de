import { apiKeyCreated, createMachineKey, Problem } from '@attribution/contracts';
import { isForeignKeyViolation, isUniqueViolation } from '@attribution/database';
import { newEvent } from '@attribution/messaging';
import { implement } from '@attribution/service';
import { audit, serviceActor } from '../audit/index.ts';
import { insertApiKey } from './api-key.store.ts';
import { requireScope } from './api-key.ts';
import { viewApiKey } from './api-key.view.ts';
import type { KeyWriting } from './create-api-key.ts';
import { hashSecret, newKeyPair } from './secret.ts';

/** One live key of each type an account, by an index (decision 28). */
export const createMachineKeyEndpoint = (parts: KeyWriting) =>
  implement(createMachineKey, async ({ body, caller, request }) => {
    const { database, outbox, clock } = parts;
    const { account_id: accountId, ...fields } = body;
    requireScope(body.group_scope, body.groups);
    await parts.requireGroups(
      accountId,
      body.groups.map(({ group_id }) => group_id),
      'body.groups',
    );
    const { accessKeyId, secret } = newKeyPair(parts.keyEnvironment);
    const now = clock.now();
    return database
      .transaction(async (tx) => {
        const key = await insertApiKey(tx, {
          ...fields,
          accountId,
          accessKeyId,
          secretHash: hashSecret(secret),
          createdBy: null,
          expiresAt: null,
          now,
        });
        await audit(tx, {
          accountId,
          action: 'api_key.created',
          actor: serviceActor(caller),
          subject: { type: 'api_key', id: key.id },
          details: { name: key.name, type: key.type },
          request,
          now,
        });
        const data = { account_id: accountId, api_key_id: key.id };
        const context = { accountId, occurredAt: now, traceparent: request.traceparent };
        await outbox.append(tx, newEvent(apiKeyCreated, data, context));
        return { ...viewApiKey(key), access_key_secret: secret };
      })
      .catch((error: unknown) => {
        if (isUniqueViolation(error))
          throw new Problem('conflict', `body.type: the account has a live ${body.type} key already.`);
        if (isForeignKeyViolation(error))
          throw new Problem('unprocessable', `body.account_id: there is no ${accountId}.`);
        throw error;
      });
  });
