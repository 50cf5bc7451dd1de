import type { apiKeyCreated, apiKeyRevoked } from '@attribution/contracts';
import type { RequestContext } from '@attribution/http';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type AuditRecord, audit } from '../audit/index.ts';
import type { Tx } from '../store.ts';

interface Occasion extends Pick<AuditRecord, 'actor' | 'now'> {
  readonly accountId: string;
  readonly request: RequestContext;
}

interface KeyChange extends Pick<AuditRecord, 'details'> {
  readonly event: typeof apiKeyCreated | typeof apiKeyRevoked;
  readonly keyId: string;
}

/** Writes the audit records and the events for keys that were created or revoked, in the same transaction. */
export async function recordKeys(
  tx: Tx,
  outbox: Outbox,
  { accountId, actor, request, now }: Occasion,
  ...changes: readonly KeyChange[]
): Promise<void> {
  const records = changes.map(({ event, keyId, details = {} }) => {
    const subject = { type: 'api_key', id: keyId };
    return { accountId, action: event.type, actor, subject, details, request, now };
  });
  await audit(tx, ...records);
  const context = { accountId, occurredAt: now, traceparent: request.traceparent };
  const events = changes.map(({ event, keyId }) =>
    newEvent(event, { account_id: accountId, api_key_id: keyId }, context),
  );
  await outbox.append(tx, ...events);
}
