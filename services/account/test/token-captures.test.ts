import { captureTokenHold, getBalance, voidTokenHold } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { keepDeadlocks, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atOnce, join, type Person, startAccountService, statusesOf } from './support.ts';
import {
  asService,
  capture,
  entriesOf,
  eventsOf,
  expectPromisesKept,
  figuresOf,
  grant,
  hold,
  holdId,
  inFuture,
  release,
} from './support-ledger.ts';
import { holding, standing } from './support-locks.ts';

let service: TestService;
let ada: Person;
let id: string;
beforeAll(async () => {
  service = await startAccountService();
  await keepDeadlocks(service.db);
});
afterAll(() => service.stop());

/** A user with 1000 tokens of the free plan, of which 300 are held. */
async function withHold(): Promise<void> {
  ada = await join(service);
  id = await holdId(service, ada.accountId, { amount: 300 });
}

const eventsOfHold = async () =>
  (await eventsOf(service, ada.accountId, 'tokens.')).filter(({ data }) => data.hold_id === id).slice(1);
const captureEntries = async () => (await entriesOf(service, ada.accountId)).filter(({ kind }) => kind === 'capture');

test('200: a capture takes the tokens with a ledger entry, and tokens.captured is published', async () => {
  await withHold();
  const { status, body } = await capture(service, id, 300);
  expect(status).toBe(200);
  expect(body).toMatchObject({ id, amount: 300, captured_amount: 300, status: 'captured', description: 'Scores' });
  expect(body.resolved_at).toMatch(/Z$/);
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 700, held: 0, available: 700 });
  expect(await captureEntries()).toMatchObject([{ seq: 2, amount: -300, balance_after: 700, description: 'Scores' }]);
  const data = { account_id: ada.accountId, hold_id: id, amount: 300 };
  expect(await eventsOfHold()).toEqual([{ type: 'tokens.captured', data }]);
  await expectPromisesKept(service, ada.accountId);
});

test('200: a partial capture releases the rest', async () => {
  await withHold();
  expect((await capture(service, id, 120)).body).toMatchObject({ amount: 300, captured_amount: 120 });
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 880, held: 0, available: 880 });
  await expectPromisesKept(service, ada.accountId);
});

test('200: a repeated capture of the same amount returns the same and takes nothing', async () => {
  await withHold();
  const { body } = await capture(service, id, 120);
  expect(await capture(service, id, 120)).toMatchObject({ status: 200, body });
  expect(await captureEntries()).toHaveLength(1);
  expect(await eventsOfHold()).toHaveLength(1);
});

test('409: a capture of a different amount than before', async () => {
  await withHold();
  await capture(service, id, 120);
  for (const amount of [119, 121, 301]) {
    const { status, problem } = await capture(service, id, amount);
    expect([status, problem?.kind, problem?.detail]).toEqual([409, 'conflict', `Hold ${id} was captured already.`]);
  }
  expect(await figuresOf(service, ada.accountId)).toMatchObject({ posted: 880 });
});

test('422: a capture of more than the hold', async () => {
  await withHold();
  const { status, problem } = await capture(service, id, 301);
  expect([status, problem?.kind, problem?.detail]).toEqual([
    422,
    'unprocessable',
    'body.amount: the hold is of 300 tokens; 301 are more.',
  ]);
  expect(await figuresOf(service, ada.accountId)).toMatchObject({ held: 300 });
});

test.each([
  [{}, 'body.amount: is required.'],
  [{ amount: 0 }, 'body.amount: must be at least 1, not 0.'],
  [{ amount: null }, 'body.amount: must be a number, not null.'],
])('400: a capture of %j', async (body, detail) => {
  await withHold();
  const { status, problem } = await asService(service, 'campaign').call(captureTokenHold, {
    params: { id },
    body: body as never,
  });
  expect([status, problem?.kind, problem?.detail]).toEqual([400, 'validation-error', detail]);
});

test('409: a capture after the expiry, whether or not the job has run', async () => {
  await withHold();
  const brief = (await hold(service, ada.accountId, { expires_in: '1m' })).body;
  service.clock.advance({ minutes: 1 });
  const { status, problem } = await capture(service, brief.id, 1);
  expect([status, problem?.kind]).toEqual([409, 'conflict']);
  expect([
    `Hold ${brief.id} expired at ${brief.expires_at} already.`,
    `Hold ${brief.id} was expired already.`,
  ]).toContain(problem?.detail);
  expect(await figuresOf(service, ada.accountId)).toMatchObject({ posted: 1000 });
});

test('200: a void releases everything, and tokens.voided is published; a repetition returns the same', async () => {
  await withHold();
  const { status, body } = await release(service, id);
  expect(status).toBe(200);
  expect(body).toMatchObject({ id, status: 'voided', captured_amount: 0, resolved_at: expect.stringMatching(/Z$/) });
  expect(await release(service, id)).toMatchObject({ status: 200, body });
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1000, held: 0, available: 1000 });
  const data = { account_id: ada.accountId, hold_id: id, amount: 300 };
  expect(await eventsOfHold()).toEqual([{ type: 'tokens.voided', data }]);
});

test('409: voiding a captured hold, and capturing a voided one', async () => {
  await withHold();
  await capture(service, id, 300);
  expect((await release(service, id)).problem).toMatchObject({
    status: 409,
    detail: `Hold ${id} was captured already.`,
  });
  await withHold();
  await release(service, id);
  expect((await capture(service, id, 300)).problem).toMatchObject({
    status: 409,
    detail: `Hold ${id} was voided already.`,
  });
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1000, held: 0, available: 1000 });
});

test('404: an unknown hold, and an id of any other format', async () => {
  for (const other of [newId('token_hold'), newId('user'), 'hld_1', '%20']) {
    for (const endpoint of [captureTokenHold, voidTokenHold]) {
      const { status, problem } = await asService(service, 'campaign').call(endpoint, {
        params: { id: other },
        body: { amount: 1 },
      });
      expect([status, problem?.kind]).toEqual([404, 'not-found']);
    }
  }
});

test('200: a closed account still pays for earlier holds', async () => {
  await withHold();
  await service.db.query("UPDATE accounts SET status = 'closed' WHERE id = $1", [ada.accountId]);
  expect((await capture(service, id, 300)).status).toBe(200);
});

test('tokens are used by priority, then expiry, then age', async () => {
  ada = await join(service);
  const add = async (priority: number, minutes?: number) => {
    const expires_at = minutes === undefined ? null : inFuture(service, { minutes });
    return (await grant(service, ada.accountId, { amount: 10, priority, expires_at })).body.id;
  };
  const order = [
    await add(200),
    await add(200),
    await add(200, 2_000),
    await add(200, 1_000),
    await add(5),
    await add(5, 99_000),
  ];
  const [older, newer, late, soon, firstForever, first] = order;
  const remaining = async () => {
    const { grants } = (await ada.client.call(getBalance, { params: { id: ada.accountId } })).body;
    return Object.fromEntries(grants.map((one) => [one.id, one.remaining]));
  };
  const spend = async (amount: number) => capture(service, await holdId(service, ada.accountId, { amount }), amount);
  const full = { [`${older}`]: 10, [`${newer}`]: 10 };

  await spend(15);
  const free = Object.keys(await remaining()).find((key) => !order.includes(key));
  expect(await remaining()).toEqual({
    [`${firstForever}`]: 5,
    [`${free}`]: 1000,
    [`${soon}`]: 10,
    [`${late}`]: 10,
    ...full,
  });
  expect(await remaining()).not.toHaveProperty(`${first}`);
  await spend(1006);
  expect(await remaining()).toEqual({ [`${soon}`]: 9, [`${late}`]: 10, ...full });
  await spend(24);
  expect(await remaining()).toEqual({ [`${older}`]: 5, [`${newer}`]: 10 });
  await spend(15);
  expect(await remaining()).toEqual({});
  await expectPromisesKept(service, ada.accountId);
});

test('20 captures of one hold at once have one effect, and all return it', async () => {
  await withHold();
  const answers = await atOnce(() => capture(service, id, 300));
  for (const { status, body } of answers) expect([status, body]).toEqual([200, answers[0]?.body]);
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 700, held: 0, available: 700 });
  expect(await captureEntries()).toHaveLength(1);
  expect(await eventsOfHold()).toHaveLength(1);
});

test('20 captures of different amounts at once: one succeeds', async () => {
  await withHold();
  const answers = await atOnce((i) => capture(service, id, 100 + i));
  expect(statusesOf(answers)).toEqual({ 200: 1, 409: 19 });
  const amount = answers.find(({ status }) => status === 200)?.body.captured_amount ?? 0;
  expect(await figuresOf(service, ada.accountId)).toMatchObject({ posted: 1000 - amount, held: 0 });
});

test('20 captures and voids of one hold at once: either capture or void wins', async () => {
  await withHold();
  const answers = await atOnce(
    async (i): Promise<{ status: number }> => (i % 2 ? capture(service, id, 300) : release(service, id)),
  );
  expect(statusesOf(answers)).toEqual({ 200: 10, 409: 10 });
  const way = answers[1]?.status === 200 ? 'captured' : 'voided';
  expect(await figuresOf(service, ada.accountId)).toMatchObject({ posted: way === 'captured' ? 700 : 1000, held: 0 });
  expect(await eventsOfHold()).toEqual([{ type: `tokens.${way}`, data: expect.anything() }]);
  await expectPromisesKept(service, ada.accountId);
});

test('a hold is released while it is asked for again under its key: both succeed, without a deadlock', async () => {
  ada = await join(service);
  const asked = { amount: 300, idempotency_key: 'the same' };
  id = await holdId(service, ada.accountId, asked);
  const answers: Promise<{ status: number }>[] = [];
  const balance = { sql: 'SELECT FROM balances WHERE account_id = $1 FOR UPDATE', id: ada.accountId };
  await holding(service, balance, async () => {
    answers.push(hold(service, ada.accountId, asked));
    await standing(service, 1);
    answers.push(release(service, id));
    await standing(service, 2);
  });
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([201, 200]);
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1000, held: 0, available: 1000 });
});
