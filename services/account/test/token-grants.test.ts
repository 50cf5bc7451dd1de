import { createTokenGrant, getBalance, listLedger } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atOnce, join, type Person, startAccountService } from './support.ts';
import { asService, entriesOf, eventsOf, expectPromisesKept, figuresOf, grant, inFuture } from './support-ledger.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
});
afterAll(() => service.stop());

test('201: the tokens are available, with a ledger entry, and tokens.granted is published', async () => {
  const person = await join(service);
  const expires_at = inFuture(service, { minutes: 60 });
  const { status, body } = await grant(service, person.accountId, { amount: 250, expires_at });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^led_/),
    account_id: person.accountId,
    seq: 2,
    kind: 'purchase',
    amount: 250,
    balance_after: 1250,
    description: 'Pack',
    expires_at,
    created_at: expect.stringMatching(/Z$/),
  });
  const { body: ledger } = await person.client.call(listLedger, { params: { id: person.accountId } });
  expect(ledger.entries[0]).toEqual(body);
  expect(await figuresOf(service, person.accountId)).toEqual({ posted: 1250, held: 0, available: 1250 });
  const data = { account_id: person.accountId, entry_id: body.id, amount: 250, expires_at };
  expect((await eventsOf(service, person.accountId, 'tokens.')).slice(1)).toEqual([{ type: 'tokens.granted', data }]);
  await expectPromisesKept(service, person.accountId);
});

test('201: by default a grant does not expire, and has priority 100', async () => {
  const { client, accountId } = await join(service);
  const { body } = await grant(service, accountId);
  const { grants } = (await client.call(getBalance, { params: { id: accountId } })).body;
  expect(grants.find(({ id }) => id === body.id)).toMatchObject({ priority: 100, expires_at: null, remaining: 100 });
});

test.each(['grant', 'purchase', 'refund', 'adjustment'] as const)('201: of kind %s', async (kind) => {
  expect((await grant(service, ada.accountId, { kind })).body.kind).toBe(kind);
});

test('201: a repeated key returns the first entry and changes nothing', async () => {
  const person = await join(service);
  const fields = { idempotency_key: 'invoice 1', amount: 250 };
  const { body } = await grant(service, person.accountId, fields);
  for (const repeated of [fields, { ...fields, description: 'In other words', priority: 1 }])
    expect(await grant(service, person.accountId, repeated)).toMatchObject({ status: 201, body });
  expect(await entriesOf(service, person.accountId)).toHaveLength(2);
  expect(await eventsOf(service, person.accountId, 'tokens.')).toHaveLength(2);
});

test('201: a repeated key after the tokens have expired', async () => {
  const person = await join(service);
  const fields = { idempotency_key: 'invoice 1', expires_at: inFuture(service, { minutes: 1 }) };
  const { body } = await grant(service, person.accountId, fields);
  service.clock.advance({ minutes: 2 });
  expect((await grant(service, person.accountId, fields)).body).toEqual(body);
});

test('409: a repeated key with a different amount or kind', async () => {
  const { accountId } = await join(service);
  await grant(service, accountId, { idempotency_key: 'invoice 1' });
  for (const other of [{ amount: 101 }, { kind: 'grant' as const }]) {
    const { status, problem } = await grant(service, accountId, { idempotency_key: 'invoice 1', ...other });
    expect([status, problem?.kind, problem?.detail]).toEqual([
      409,
      'conflict',
      'body.idempotency_key: was used for a purchase of 100 tokens.',
    ]);
  }
  await expectPromisesKept(service, accountId);
});

test('201: a key belongs to one account and one calling service, and cannot collide with the ledger’s own keys', async () => {
  const [first, second] = [await join(service), await join(service)];
  for (const { accountId } of [first, second]) await grant(service, accountId, { idempotency_key: 'signup' });
  await asService(service, 'campaign').call(createTokenGrant, {
    body: { account_id: first.accountId, idempotency_key: 'signup', kind: 'refund', amount: 7, description: 'Failed' },
  });
  expect(await figuresOf(service, first.accountId)).toMatchObject({ posted: 1107 });
  expect(await figuresOf(service, second.accountId)).toMatchObject({ posted: 1100 });
});

test('20 grants under one key at once: one is posted, and all return it', async () => {
  const person = await join(service);
  const answers = await atOnce(() => grant(service, person.accountId, { idempotency_key: 'invoice 1' }));
  for (const { status, body } of answers) expect([status, body]).toEqual([201, answers[0]?.body]);
  expect(await entriesOf(service, person.accountId)).toHaveLength(2);
  expect(await eventsOf(service, person.accountId, 'tokens.')).toHaveLength(2);
});

test.each([
  [{ account_id: undefined }, 'body.account_id: is required.'],
  [{ account_id: 'acc_1' }, 'body.account_id: must be an account id (acc_…), not "acc_1".'],
  [{ idempotency_key: undefined }, 'body.idempotency_key: is required.'],
  [{ idempotency_key: '' }, 'body.idempotency_key: must not be empty, not "".'],
  [{ idempotency_key: 'x'.repeat(201) }, 'body.idempotency_key: must have at most 200 characters.'],
  [{ kind: 'capture' }, 'body.kind: must be one of grant, purchase, refund, adjustment, not "capture".'],
  [{ amount: 0 }, 'body.amount: must be at least 1, not 0.'],
  [{ amount: -5 }, 'body.amount: must be at least 1, not -5.'],
  [{ amount: 1.5 }, 'body.amount: must be a whole number, not 1.5.'],
  [{ amount: 1e13 }, 'body.amount: must be at most 1000000000000, not 10000000000000.'],
  [{ priority: -1 }, 'body.priority: must be at least 0, not -1.'],
  [{ description: ' ' }, 'body.description: must not be empty, not " ".'],
  [{ expires_at: '2020-01-01T00:00:00Z' }, 'body.expires_at: 2020-01-01T00:00:00Z is not in the future.'],
])('400: %j', async (fields, detail) => {
  const { status, problem } = await grant(service, ada.accountId, fields as object);
  expect([status, problem?.kind, problem?.detail]).toEqual([400, 'validation-error', detail]);
});

test('400: a grant that is refused for its expiry leaves nothing', async () => {
  const person = await join(service);
  await grant(service, person.accountId, { expires_at: '2020-01-01T00:00:00Z' });
  expect(await entriesOf(service, person.accountId)).toHaveLength(1);
  await expectPromisesKept(service, person.accountId);
});

test('422: an account that does not exist', async () => {
  const unknown = newId('account');
  const { status, problem } = await grant(service, unknown);
  expect([status, problem?.kind, problem?.detail]).toEqual([
    422,
    'unprocessable',
    `body.account_id: there is no account ${unknown}.`,
  ]);
});

const _id = newId('token_hold');
