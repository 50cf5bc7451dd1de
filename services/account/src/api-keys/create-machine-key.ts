import { apiKeyCreated, apiKeyRevoked, createMachineKey, Problem } from '@attribution/contracts';
import { isUniqueViolation } from '@attribution/database';
import { implement } from '@attribution/service';
import { holdAccount } from '../accounts/index.ts';
import { serviceActor } from '../audit/index.ts';
import { insertApiKey, revokeExpiredMachineKey } from './api-key.store.ts';
import { requireScope } from './api-key.ts';
import { viewApiKey } from './api-key.view.ts';
import type { KeyWriting } from './create-api-key.ts';
import { recordKeys } from './record-keys.ts';
import { hashSecret, newKeyPair } from './secret.ts';

/**
 * A unique index allows one live key of each type per account (decision 28). An expired key is revoked to make room
 * for the new one, because rotating the expired key would make a second live key.
 */
export const createMachineKeyEndpoint = (deps: KeyWriting) =>
  implement(createMachineKey, async ({ body, caller, request }) => {
    const { database, outbox, clock } = deps;
    const { account_id: accountId, ...fields } = body;
    requireScope(body.group_scope, body.groups);
    await deps.requireGroups(
      accountId,
      body.groups.map(({ group_id }) => group_id),
      'body.groups',
    );
    const { accessKeyId, secret } = newKeyPair(deps.keyEnvironment);
    const now = clock.now();
    const occasion = { accountId, actor: serviceActor(caller), request, now };
    return database
      .transaction(async (tx) => {
        const account = await holdAccount(tx, accountId);
        if (!account) throw new Problem('unprocessable', `body.account_id: there is no ${accountId}.`);
        if (account.status === 'closed') throw new Problem('conflict', 'The account is closed.');
        const expired = await revokeExpiredMachineKey(tx, { accountId, type: body.type, now });
        const key = await insertApiKey(tx, {
          ...fields,
          accountId,
          accessKeyId,
          secretHash: hashSecret(secret),
          createdBy: null,
          expiresAt: null,
          now,
        });
        const view = viewApiKey(key);
        const { name, type, role, readonly } = view;
        const details = { name, type, role, readonly };
        const revocations = expired ? [{ event: apiKeyRevoked, keyId: expired }] : [];
        await recordKeys(tx, outbox, occasion, ...revocations, { event: apiKeyCreated, keyId: key.id, details });
        return { ...view, access_key_secret: secret };
      })
      .catch((error: unknown) => {
        if (isUniqueViolation(error))
          throw new Problem('conflict', `body.type: the account has a live ${body.type} key already.`);
        throw error;
      });
  });
