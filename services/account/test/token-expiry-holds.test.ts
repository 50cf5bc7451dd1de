import type { TestService } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { atOnce, join, type Person, startAccountService, statusesOf } from './support.ts';
import {
  capture,
  entriesOf,
  eventsOf,
  expectPromisesKept,
  figuresOf,
  grant,
  hold,
  holdId,
  inFuture,
  leftOf,
  release,
} from './support-ledger.ts';
import { keepJobAway } from './support-locks.ts';

let service: TestService;
let ada: Person;
let job: Awaited<ReturnType<typeof keepJobAway>>;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

beforeEach(async () => {
  ada = await join(service);
  job = await keepJobAway(service, 'expire-token-grants');
});
afterEach(() => job.end());

/** A grant that is used before the free one, and expires soon. */
const briefGrant = async (amount = 100) =>
  (await grant(service, ada.accountId, { amount, priority: 1, expires_at: inFuture(service, { minutes: 60 }) })).body
    .id;

const passTime = () => service.clock.advance({ minutes: 62 });

const holdOf = (amount: number) => hold(service, ada.accountId, { amount });

test('402: tokens of an expired grant are not reserved, even before the job has run; the refusal takes them back', async () => {
  const id = await briefGrant();
  passTime();
  const { status, problem } = await holdOf(1100);
  expect([status, problem?.detail]).toEqual([402, 'The account has 1000 tokens available; 1100 are needed.']);
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1000, held: 0, available: 1000 });
  expect((await entriesOf(service, ada.accountId))[0]).toMatchObject({ kind: 'expiry', amount: -100, seq: 3 });
  const data = { account_id: ada.accountId, amount: 100, of: { entry_id: id } };
  expect(await eventsOf(service, ada.accountId, 'tokens.expired')).toEqual([{ type: 'tokens.expired', data }]);
  await expectPromisesKept(service, ada.accountId);
});

test('201: a hold on the rest first takes back expired grants, with an entry and an event for each', async () => {
  const ids = [await briefGrant(100), await briefGrant(50)];
  passTime();
  expect((await holdOf(1000)).status).toBe(201);
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1000, held: 1000, available: 0 });
  for (const id of ids) expect(await leftOf(service, id)).toBe(0);
  const events = await eventsOf(service, ada.accountId, 'tokens.');
  expect(events.map(({ type }) => type).slice(-3)).toEqual(['tokens.expired', 'tokens.expired', 'tokens.held']);
  expect((await holdOf(1)).status).toBe(402);
  await expectPromisesKept(service, ada.accountId);
});

test('201: tokens of an expired grant that an earlier hold has reserved stay, and can be captured', async () => {
  const id = await briefGrant();
  const held = await holdId(service, ada.accountId, { amount: 60, expires_in: '30d' });
  passTime();
  expect((await holdOf(1001)).problem?.detail).toBe('The account has 1000 tokens available; 1001 are needed.');
  expect(await leftOf(service, id)).toBe(60);
  expect((await holdOf(1000)).status).toBe(201);
  expect((await capture(service, held, 60)).status).toBe(200);
  expect(await leftOf(service, id)).toBe(0);
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1000, held: 1000, available: 0 });
  await expectPromisesKept(service, ada.accountId);
});

test('402: tokens of an expired grant that a hold releases are not reserved again', async () => {
  await briefGrant();
  const held = await holdId(service, ada.accountId, { amount: 100, expires_in: '30d' });
  passTime();
  await release(service, held);
  expect((await holdOf(1001)).problem?.detail).toBe('The account has 1000 tokens available; 1001 are needed.');
});

test('201: a repeated key returns the same hold, also when tokens have expired since', async () => {
  await briefGrant();
  const fields = { idempotency_key: 'run 1', amount: 1100, expires_in: '30d' } as const;
  const { body } = await hold(service, ada.accountId, fields);
  passTime();
  expect(await hold(service, ada.accountId, fields)).toMatchObject({ status: 201, body });
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1100, held: 1100, available: 0 });
});

test('20 holds at once on expired grants reserve no more than the valid tokens, and take each grant back once', async () => {
  for (let n = 0; n < 5; n++) await briefGrant();
  passTime();
  expect(statusesOf(await atOnce(() => holdOf(75)))).toEqual({ 201: 13, 402: 7 });
  expect(await figuresOf(service, ada.accountId)).toEqual({ posted: 1000, held: 975, available: 25 });
  expect(await eventsOf(service, ada.accountId, 'tokens.expired')).toHaveLength(5);
  await expectPromisesKept(service, ada.accountId);
});

test('20 holds at once while the job runs do the same', async () => {
  for (let n = 0; n < 5; n++) await briefGrant();
  passTime();
  await job.letCome();
  expect(statusesOf(await atOnce(() => holdOf(75)))).toEqual({ 201: 13, 402: 7 });
  expect(await eventsOf(service, ada.accountId, 'tokens.expired')).toHaveLength(5);
  await expectPromisesKept(service, ada.accountId);
});
