import { closeAccount, createTokenHold } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atOnce, count, join, type Person, startAccountService, statusesOf } from './support.ts';
import { asService, eventsOf, expectPromisesKept, figuresOf, grant, hold } from './support-ledger.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
});
afterAll(() => service.stop());

const holdsOf = (accountId: string) => count(service, 'token_holds', 'account_id = $1', accountId);

test('201: the tokens are reserved until the hold expires, and tokens.held is published', async () => {
  const person = await join(service);
  const { status, body } = await hold(service, person.accountId, { amount: 300, expires_in: '2h' });
  expect(status).toBe(201);
  expect(body).toEqual({
    id: expect.stringMatching(/^hld_/),
    account_id: person.accountId,
    amount: 300,
    captured_amount: 0,
    status: 'pending',
    description: 'Scores',
    expires_at: new Date(Date.parse(body.created_at) + 2 * 60 * 60 * 1000).toISOString(),
    created_at: expect.stringMatching(/Z$/),
    resolved_at: null,
  });
  expect(await figuresOf(service, person.accountId)).toEqual({ posted: 1000, held: 300, available: 700 });
  const data = { account_id: person.accountId, hold_id: body.id, amount: 300 };
  expect(await eventsOf(service, person.accountId, 'tokens.held')).toEqual([{ type: 'tokens.held', data }]);
  await expectPromisesKept(service, person.accountId);
});

test('201: all available tokens, to the last one', async () => {
  const person = await join(service);
  expect((await hold(service, person.accountId, { amount: 400 })).status).toBe(201);
  expect((await hold(service, person.accountId, { amount: 600 })).status).toBe(201);
  expect(await figuresOf(service, person.accountId)).toEqual({ posted: 1000, held: 1000, available: 0 });
});

test('201: a repeated key returns the same hold, also when nothing else is available', async () => {
  const { accountId } = await join(service);
  const fields = { idempotency_key: 'run 1', amount: 1000 };
  const { body } = await hold(service, accountId, fields);
  expect(await hold(service, accountId, fields)).toMatchObject({ status: 201, body });
  expect(await holdsOf(accountId)).toBe(1);
  expect(await eventsOf(service, accountId, 'tokens.held')).toHaveLength(1);
});

test('201: a key belongs to one account and one calling service', async () => {
  const [first, second] = [await join(service), await join(service)];
  for (const { accountId } of [first, second]) await hold(service, accountId, { idempotency_key: 'run 1' });
  const body = { account_id: first.accountId, idempotency_key: 'run 1', amount: 7, description: 'x', expires_in: '1h' };
  expect((await asService(service, 'campaign').call(createTokenHold, { body })).status).toBe(201);
  expect(await figuresOf(service, first.accountId)).toMatchObject({ held: 107 });
  expect(await figuresOf(service, second.accountId)).toMatchObject({ held: 100 });
});

test('402: more than is available: the detail has the available and the required amount, and nothing is reserved', async () => {
  const person = await join(service);
  await hold(service, person.accountId, { amount: 300 });
  const { status, problem } = await hold(service, person.accountId, { amount: 701 });
  expect([status, problem?.kind, problem?.detail]).toEqual([
    402,
    'insufficient-balance',
    'The account has 700 tokens available; 701 are needed.',
  ]);
  expect(await figuresOf(service, person.accountId)).toMatchObject({ held: 300 });
  expect(await eventsOf(service, person.accountId, 'tokens.held')).toHaveLength(1);
});

test('201: a refused hold can be repeated under its key, once there are tokens', async () => {
  const { accountId } = await join(service);
  const fields = { idempotency_key: 'run 1', amount: 1100 };
  expect((await hold(service, accountId, fields)).status).toBe(402);
  await grant(service, accountId, { amount: 100 });
  expect((await hold(service, accountId, fields)).status).toBe(201);
});

test('409: a repeated key with a different amount', async () => {
  const { accountId } = await join(service);
  await hold(service, accountId, { idempotency_key: 'run 1' });
  const { status, problem } = await hold(service, accountId, { idempotency_key: 'run 1', amount: 101 });
  expect([status, problem?.kind, problem?.detail]).toEqual([
    409,
    'conflict',
    'body.idempotency_key: was used for a hold of 100 tokens.',
  ]);
});

test('409: a closed account; an earlier hold is still returned', async () => {
  const { client, accountId } = await join(service);
  const fields = { idempotency_key: 'before' };
  const { body } = await hold(service, accountId, fields);
  await client.call(closeAccount, { params: { id: accountId } });
  const { status, problem } = await hold(service, accountId);
  expect([status, problem?.kind, problem?.detail]).toEqual([
    409,
    'conflict',
    `body.account_id: account ${accountId} is closed.`,
  ]);
  expect(await hold(service, accountId, fields)).toMatchObject({ status: 201, body });
});

test('409: a suspended account', async () => {
  const { accountId } = await join(service);
  await service.db.query("UPDATE accounts SET status = 'suspended' WHERE id = $1", [accountId]);
  expect((await hold(service, accountId)).problem).toMatchObject({
    status: 409,
    detail: `body.account_id: account ${accountId} is suspended.`,
  });
});

test('422: an account that does not exist', async () => {
  const unknown = newId('account');
  const { status, problem } = await hold(service, unknown);
  expect([status, problem?.kind, problem?.detail]).toEqual([
    422,
    'unprocessable',
    `body.account_id: there is no account ${unknown}.`,
  ]);
});

test.each([
  [{ account_id: undefined }, 'body.account_id: is required.'],
  [{ idempotency_key: undefined }, 'body.idempotency_key: is required.'],
  [{ amount: 0 }, 'body.amount: must be at least 1, not 0.'],
  [{ amount: '5' }, 'body.amount: must be a number, not "5".'],
  [{ description: undefined }, 'body.description: is required.'],
  [{ expires_in: undefined }, 'body.expires_in: is required.'],
  [{ expires_in: '0s' }, 'body.expires_in: must be more than 0 and at most 90d, not "0s".'],
  [{ expires_in: '91d' }, 'body.expires_in: must be more than 0 and at most 90d, not "91d".'],
  [{ expires_in: 'soon' }, 'body.expires_in: must be a duration such as 30m, 48h or 7d, not "soon".'],
])('400: %j', async (fields, detail) => {
  const { status, problem } = await hold(service, ada.accountId, fields as object);
  expect([status, problem?.kind, problem?.detail]).toEqual([400, 'validation-error', detail]);
});

test('20 holds under one key at once: one is made, and all return it', async () => {
  const person = await join(service);
  const answers = await atOnce(() => hold(service, person.accountId, { idempotency_key: 'run 1', amount: 600 }));
  for (const { status, body } of answers) expect([status, body]).toEqual([201, answers[0]?.body]);
  expect(await figuresOf(service, person.accountId)).toEqual({ posted: 1000, held: 600, available: 400 });
  expect(await eventsOf(service, person.accountId, 'tokens.held')).toHaveLength(1);
});

test('100 holds at once never overdraw: as many succeed as there are tokens for', async () => {
  const person = await join(service);
  const answers = await Promise.all(Array.from({ length: 100 }, () => hold(service, person.accountId, { amount: 30 })));
  expect(statusesOf(answers)).toEqual({ 201: 33, 402: 67 });
  expect(await figuresOf(service, person.accountId)).toEqual({ posted: 1000, held: 990, available: 10 });
  expect(await eventsOf(service, person.accountId, 'tokens.held')).toHaveLength(33);
  await expectPromisesKept(service, person.accountId);
});

test('many holds at once on many accounts: each account has its own limit, and a refused hold does not affect others', async () => {
  const people = [await join(service), await join(service), await join(service)];
  const amounts = [400, 2000, 400, 300, 200];
  const answers = await Promise.all(
    amounts.flatMap((amount) => people.map(({ accountId }) => hold(service, accountId, { amount }))),
  );
  expect(statusesOf(answers)).toEqual({ 201: 9, 402: 6 });
  for (const { accountId } of people) {
    await expectPromisesKept(service, accountId);
    expect(await eventsOf(service, accountId, 'tokens.held')).toHaveLength(3);
  }
});

test('a hold that the database refuses does not affect others', async () => {
  const person = await join(service);
  await service.db.query("ALTER TABLE token_holds ADD CONSTRAINT test_only CHECK (description <> 'Refused')");
  const answers = await atOnce((i) =>
    hold(service, person.accountId, { amount: 1, ...(i === 7 && { description: 'Refused' }) }),
  );
  await service.db.query('ALTER TABLE token_holds DROP CONSTRAINT test_only');
  expect(statusesOf(answers)).toEqual({ 201: 19, 503: 1 });
  expect(await figuresOf(service, person.accountId)).toMatchObject({ held: 19 });
  expect(await eventsOf(service, person.accountId, 'tokens.held')).toHaveLength(19);
});
