import { createTokenGrant, Problem, tokensGranted } from '@attribution/contracts';
import { newEvent, type Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { postGrant } from './grant.store.ts';
import { viewEntry } from './views.ts';

export const createTokenGrantEndpoint = (deps: { database: AccountDatabase; outbox: Outbox; clock: Clock }) =>
  implement(createTokenGrant, async ({ body, caller, request }) => {
    const { account_id: accountId, kind, amount, description, priority } = body;
    // The prefix keeps callers' keys apart from the ledger's own, none of which begins with the name of a service.
    const idempotencyKey = `${caller}:${body.idempotency_key}`;
    const now = deps.clock.now();
    const expiresAt = body.expires_at === null ? null : new Date(body.expires_at);
    return deps.database.sqlTransaction(async (tx) => {
      const grant = { accountId, kind, amount, description, idempotencyKey, priority, expiresAt, now };
      const posted = await postGrant(tx, grant);
      const entry = viewEntry(posted.entry);
      if (posted.repeated) {
        if (entry.amount === amount && entry.kind === kind) return entry;
        throw new Problem('conflict', `body.idempotency_key: was used for a ${entry.kind} of ${entry.amount} tokens.`);
      }
      if (expiresAt && expiresAt <= now)
        throw new Problem('validation-error', `body.expires_at: ${body.expires_at} is not in the future.`);
      const data = { account_id: accountId, entry_id: entry.id, amount, expires_at: entry.expires_at };
      const context = { accountId, occurredAt: now, traceparent: request.traceparent };
      await deps.outbox.append(tx, newEvent(tokensGranted, data, context));
      return entry;
    });
  });
