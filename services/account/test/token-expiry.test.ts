import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { join, type Person, rows, startAccountService } from './support.ts';
import {
  capture,
  entriesOf,
  eventsOf,
  expectPromisesKept,
  expired,
  figuresOf,
  grant,
  holdId,
  inFuture,
  leftOf,
  release,
} from './support-ledger.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

/** A grant that burns first and expires in an hour. */
const briefGrant = async ({ accountId }: Person, amount = 100) =>
  (await grant(service, accountId, { amount, priority: 1, expires_at: inFuture(service, { minutes: 60 }) })).body.id;

/** Lets the time of brief grants and holds pass. */
async function passTime(): Promise<void> {
  service.clock.advance({ minutes: 62 });
  await expired(service);
}

test('an expired hold releases its tokens, and tokens.expired is published', async () => {
  const person = await join(service);
  const id = await holdId(service, person.accountId, { amount: 300, expires_in: '60m' });
  const longer = await holdId(service, person.accountId, { amount: 50, expires_in: '30d' });
  await passTime();
  expect(await figuresOf(service, person.accountId)).toEqual({ posted: 1000, held: 50, available: 950 });
  expect(
    await rows(service, 'SELECT id, status FROM token_holds WHERE account_id = $1 ORDER BY id', person.accountId),
  ).toEqual([
    { id, status: 'expired' },
    { id: longer, status: 'pending' },
  ]);
  const data = { account_id: person.accountId, amount: 300, of: { hold_id: id } };
  expect(await eventsOf(service, person.accountId, 'tokens.expired')).toEqual([{ type: 'tokens.expired', data }]);
  await expectPromisesKept(service, person.accountId);
});

test('409: a hold that has expired is neither captured nor voided', async () => {
  const { accountId } = await join(service);
  const id = await holdId(service, accountId, { amount: 300, expires_in: '60m' });
  await passTime();
  for (const answer of [await capture(service, id, 1), await release(service, id)])
    expect([answer.status, answer.problem?.detail]).toEqual([409, `Hold ${id} was expired already.`]);
});

test('the rest of an expired grant is taken back with an entry, and tokens.expired is published', async () => {
  const person = await join(service);
  const id = await briefGrant(person);
  await capture(service, await holdId(service, person.accountId, { amount: 30 }), 30);
  await passTime();
  expect(await figuresOf(service, person.accountId)).toEqual({ posted: 1000, held: 0, available: 1000 });
  expect((await entriesOf(service, person.accountId))[0]).toMatchObject({
    kind: 'expiry',
    amount: -70,
    balance_after: 1000,
    seq: 4,
  });
  const data = { account_id: person.accountId, amount: 70, of: { entry_id: id } };
  expect(await eventsOf(service, person.accountId, 'tokens.expired')).toEqual([{ type: 'tokens.expired', data }]);
  await expectPromisesKept(service, person.accountId);
});

test('a grant that is spent before its expiry has nothing to expire', async () => {
  const person = await join(service);
  await briefGrant(person);
  await capture(service, await holdId(service, person.accountId), 100);
  await passTime();
  expect((await entriesOf(service, person.accountId)).map(({ kind }) => kind)).toEqual([
    'capture',
    'purchase',
    'grant',
  ]);
});

test('tokens that a hold has reserved outlive their grant until the hold is captured', async () => {
  const person = await join(service);
  const id = await briefGrant(person);
  const held = await holdId(service, person.accountId, { amount: 60, expires_in: '30d' });
  await passTime();
  expect(await leftOf(service, id)).toBe(60);
  expect(await figuresOf(service, person.accountId)).toEqual({ posted: 1060, held: 60, available: 1000 });
  await capture(service, held, 60);
  expect(await leftOf(service, id)).toBe(0);
  expect(await figuresOf(service, person.accountId)).toEqual({ posted: 1000, held: 0, available: 1000 });
  expect((await entriesOf(service, person.accountId)).map(({ kind, amount }) => [kind, amount])).toEqual([
    ['capture', -60],
    ['expiry', -40],
    ['purchase', 100],
    ['grant', 1000],
  ]);
  await expectPromisesKept(service, person.accountId);
});

test('tokens reserved on an expired grant expire once the hold is voided, or partly captured', async () => {
  const person = await join(service);
  const id = await briefGrant(person);
  const voided = await holdId(service, person.accountId, { amount: 60, expires_in: '30d' });
  const captured = await holdId(service, person.accountId, { amount: 40, expires_in: '30d' });
  await passTime();
  expect(await leftOf(service, id)).toBe(100);
  await release(service, voided);
  await eventually(async () => expect(await leftOf(service, id)).toBe(40));
  await capture(service, captured, 15);
  await eventually(async () => expect(await leftOf(service, id)).toBe(0));
  expect(await figuresOf(service, person.accountId)).toEqual({ posted: 1000, held: 0, available: 1000 });
  const events = await eventsOf(service, person.accountId, 'tokens.expired');
  expect(events.map(({ data }) => data.amount)).toEqual([60, 25]);
  await expectPromisesKept(service, person.accountId);
});

test('holds reserve the tokens that are used first: a grant later in the order expires completely', async () => {
  const person = await join(service);
  const { accountId } = person;
  const late = { amount: 100, priority: 200, expires_at: inFuture(service, { minutes: 60 }) };
  const { id } = (await grant(service, accountId, late)).body;
  await holdId(service, accountId, { amount: 500, expires_in: '30d' });
  await passTime();
  expect(await leftOf(service, id)).toBe(0);
  expect(await figuresOf(service, person.accountId)).toEqual({ posted: 1000, held: 500, available: 500 });
});

test('more holds than fit into one batch, and many grants, all expire, one entry each', async () => {
  const person = await join(service);
  const { accountId } = person;
  await service.db.query(
    `WITH entry AS (
       INSERT INTO ledger_entries (id, account_id, seq, kind, amount, balance_after, description, idempotency_key, created_at)
       SELECT 'led_' || uuidv7(), $1, n, 'grant', 1, 999 + n, 'Grant', 'test ' || n, now()
       FROM generate_series(2, 121) AS n RETURNING id)
     INSERT INTO token_grants SELECT id, $1, 1, 1, 200, $2::timestamptz, now() FROM entry`,
    [accountId, inFuture(service, { minutes: 30 })],
  );
  await service.db.query(
    `INSERT INTO token_holds (id, account_id, amount, description, idempotency_key, expires_at, created_at)
     SELECT 'hld_' || uuidv7(), $1, 1, 'Test', 'test ' || n, $2::timestamptz, now() FROM generate_series(1, 120) AS n`,
    [accountId, inFuture(service, { minutes: 30 })],
  );
  expect(await figuresOf(service, person.accountId)).toEqual({ posted: 1120, held: 120, available: 1000 });
  service.clock.advance({ minutes: 31 });
  await eventually(async () =>
    expect(await figuresOf(service, person.accountId)).toEqual({ posted: 1000, held: 0, available: 1000 }),
  );
  expect((await entriesOf(service, person.accountId)).filter(({ kind }) => kind === 'expiry')).toHaveLength(120);
  expect(await eventsOf(service, accountId, 'tokens.expired')).toHaveLength(240);
  await expectPromisesKept(service, accountId);
});
