import type { apiKeyCreated, apiKeyRevoked } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { RequestContext } from '@attribution/service';
import { audit, type Deed } from '../audit/index.ts';
import type { Tx } from '../store.ts';

interface KeyDeed extends Pick<Deed, 'actor' | 'details' | 'now'> {
  readonly accountId: string;
  readonly keyId: string;
  readonly request: RequestContext;
}

/** Audits that a key was made or revoked and tells others, in the transaction that did it. */
export async function recordKey(
  tx: Tx,
  outbox: Outbox,
  event: typeof apiKeyCreated | typeof apiKeyRevoked,
  { accountId, keyId, actor, details = {}, request, now }: KeyDeed,
): Promise<void> {
  const subject = { type: 'api_key', id: keyId };
  await audit(tx, { accountId, action: event.type, actor, subject, details, request, now });
  const context = { accountId, occurredAt: now, traceparent: request.traceparent };
  await outbox.append(tx, newEvent(event, { account_id: accountId, api_key_id: keyId }, context));
}
