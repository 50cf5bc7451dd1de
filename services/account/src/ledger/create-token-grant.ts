import { createTokenGrant, Problem, tokensGranted } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import { type Clock, implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { postGrant } from './grant.store.ts';
import { viewEntry } from './views.ts';

export const createTokenGrantEndpoint = (parts: { database: AccountDatabase; outbox: Outbox; clock: Clock }) =>
  implement(createTokenGrant, async ({ body, request }) => {
    const { account_id: accountId, idempotency_key: idempotencyKey, kind, amount, description, priority } = body;
    const now = parts.clock.now();
    const expiresAt = body.expires_at === null ? null : new Date(body.expires_at);
    if (expiresAt && expiresAt <= now) throw new Problem('validation-error', 'body.expires_at: must be in the future.');
    return parts.database.sqlTransaction(async (tx) => {
      const grant = { accountId, kind, amount, description, idempotencyKey, priority, expiresAt, now };
      const posted = await postGrant(tx, grant);
      const entry = viewEntry(posted.entry);
      if (!posted.repeated) {
        const data = { account_id: accountId, entry_id: entry.id, amount, expires_at: entry.expires_at };
        const context = { accountId, occurredAt: now, traceparent: request.traceparent };
        await parts.outbox.append(tx, newEvent(tokensGranted, data, context));
      } else if (entry.amount !== amount || entry.kind !== kind) {
        throw new Problem('conflict', `idempotency_key: was used for a ${entry.kind} of ${entry.amount} tokens.`);
      }
      return entry;
    });
  });
