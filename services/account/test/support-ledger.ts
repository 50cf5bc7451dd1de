import {
  captureTokenHold,
  createTokenGrant,
  createTokenHold,
  type ServiceName,
  voidTokenHold,
} from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import { eventually, internalToken, type TestService } from '@attribution/testing';
import { expect } from '@jest/globals';
import type { z } from 'zod';
import { count, rows } from './support.ts';

type GrantBody = z.input<typeof createTokenGrant.body>;
type HoldBody = z.input<typeof createTokenHold.body>;

/** Calls as another service does. */
export const asService = (service: TestService, caller: ServiceName = 'billing') =>
  service.client.with({ token: internalToken(caller, 'account') });

/** Gives tokens; by default 100, for good, under a key of their own. */
export const grant = (service: TestService, accountId: string, fields: Partial<GrantBody> = {}) =>
  asService(service).call(createTokenGrant, {
    body: {
      account_id: accountId,
      idempotency_key: newUuid(),
      kind: 'purchase',
      amount: 100,
      description: 'Pack',
      ...fields,
    },
  });

/** Reserves tokens; by default 100, for an hour, under a key of their own. */
export const hold = (service: TestService, accountId: string, fields: Partial<HoldBody> = {}) =>
  asService(service).call(createTokenHold, {
    body: {
      account_id: accountId,
      idempotency_key: newUuid(),
      amount: 100,
      description: 'Scores',
      expires_in: '1h',
      ...fields,
    },
  });

export const capture = (service: TestService, id: string, amount: number) =>
  asService(service, 'campaign').call(captureTokenHold, { params: { id }, body: { amount } });

export const release = (service: TestService, id: string) =>
  asService(service, 'campaign').call(voidTokenHold, { params: { id } });

/** The id of a hold that must be made. */
export const holdId = async (service: TestService, accountId: string, fields: Partial<HoldBody> = {}) =>
  (await hold(service, accountId, fields)).body.id;

export const inFuture = (service: TestService, { minutes }: { minutes: number }) =>
  new Date(service.clock.now().getTime() + minutes * 60_000).toISOString();

/** Posted, held and available tokens. */
export async function figuresOf(service: TestService, accountId: string) {
  const [figures] = await rows<{ posted: number; held: number; available: number }>(
    service,
    'SELECT posted::int, held::int, (posted - held)::int AS available FROM balances WHERE account_id = $1',
    accountId,
  );
  return figures;
}

interface EntryRow {
  readonly id: string;
  readonly seq: number;
  readonly kind: string;
  readonly amount: number;
  readonly balance_after: number;
}

/** The ledger, newest first. */
export const entriesOf = (service: TestService, accountId: string) =>
  rows<EntryRow>(
    service,
    `SELECT id, seq::int, kind, amount::int, balance_after::int, description FROM ledger_entries
     WHERE account_id = $1 ORDER BY seq DESC`,
    accountId,
  );

/** The remaining and the reserved tokens of a grant. */
export async function grantOf(service: TestService, entryId: string) {
  const [row] = await rows<{ remaining: number; reserved: number }>(
    service,
    'SELECT remaining::int, reserved::int FROM token_grants WHERE entry_id = $1',
    entryId,
  );
  return row;
}

/** The remaining tokens of a grant. */
export const leftOf = async (service: TestService, entryId: string): Promise<number | undefined> =>
  (await grantOf(service, entryId))?.remaining;

/** The ledger's promises (the design's section on Account), looked at from outside. */
export async function expectPromisesKept(service: TestService, accountId: string): Promise<void> {
  const [sums] = await rows<Record<string, string>>(
    service,
    `SELECT b.posted, b.held, b.posted - b.held AS available, b.last_seq,
       (SELECT coalesce(sum(amount), 0) FROM ledger_entries WHERE account_id = $1) AS entries,
       (SELECT count(*) FROM ledger_entries WHERE account_id = $1) AS entry_count,
       (SELECT coalesce(sum(remaining), 0) FROM token_grants WHERE account_id = $1) AS remaining,
       (SELECT coalesce(sum(amount), 0) FROM token_holds WHERE account_id = $1 AND status = 'pending') AS pending,
       (SELECT count(*) FROM (
          SELECT seq - lag(seq, 1, 0::bigint) OVER w AS step, balance_after - lag(balance_after, 1, 0::bigint) OVER w - amount AS error
          FROM ledger_entries WHERE account_id = $1 WINDOW w AS (ORDER BY seq)) AS steps
        WHERE step <> 1 OR error <> 0) AS wrong_steps,
       (SELECT count(*) FROM token_grants AS g WHERE account_id = $1 AND (reserved > remaining OR reserved <> (
          SELECT coalesce(sum(amount), 0) FROM token_holds WHERE grant_id = g.entry_id AND status = 'pending'
        ))) AS wrong_reserves
     FROM balances AS b WHERE b.account_id = $1`,
    accountId,
  );
  const { posted, held, available, last_seq } = sums ?? {};
  expect(sums).toMatchObject({ entries: posted, remaining: posted, pending: held, entry_count: last_seq });
  expect(sums).toMatchObject({ wrong_steps: '0', wrong_reserves: '0' });
  expect(Number(available)).toBeGreaterThanOrEqual(0);
}

/** Waits until the jobs have expired everything that is overdue by the clock. */
export const expired = (service: TestService) =>
  eventually(async () => {
    const now = service.clock.now();
    expect(await count(service, 'token_holds', "status = 'pending' AND expires_at <= $1", now)).toBe(0);
    const reserved = '(SELECT coalesce(sum(reserved), 0) FROM token_grants AS g WHERE g.account_id = b.account_id)';
    const due = `o.expires_at <= $1 AND o.before + o.remaining > b.held - ${reserved}`;
    expect(await count(service, 'open_grants AS o JOIN balances AS b USING (account_id)', due, now)).toBe(0);
  });

/** The published events of an account whose types have this prefix, oldest first, when the outbox is empty. */
export async function eventsOf(service: TestService, accountId: string, prefix: string) {
  await eventually(async () => {
    if ((await count(service, 'outbox')) > 0) throw new Error('Something waits to be published');
  });
  return service.published
    .filter(({ account_id, type }) => account_id === accountId && type.startsWith(prefix))
    .map(({ type, data }) => ({ type, data }));
}
