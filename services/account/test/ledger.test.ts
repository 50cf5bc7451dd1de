import { listLedger } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { keyToken, personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { getRaw, join, type Person, startAccountService } from './support.ts';
import { grant } from './support-ledger.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const ledger = (person: Person, query: { limit?: number; cursor?: string } = {}) =>
  person.client.call(listLedger, { params: { id: person.accountId }, query });

/** A user with `total` ledger entries: the free grant, and adjustments of one token each. */
async function withEntries(total: number): Promise<Person> {
  const person = await join(service);
  await service.db.query(
    `WITH entry AS (
       INSERT INTO ledger_entries (id, account_id, seq, kind, amount, balance_after, description, idempotency_key, created_at)
       SELECT 'led_' || uuidv7(), $1, n, 'adjustment', 1, 999 + n, 'Adjustment', 'test ' || n, now()
       FROM generate_series(2, $2::int) AS n RETURNING id)
     INSERT INTO token_grants SELECT id, $1, 1, 1, 10, NULL, now() FROM entry`,
    [person.accountId, total],
  );
  return person;
}

test('200: begins with the free grant', async () => {
  const person = await join(service);
  const { status, body } = await ledger(person);
  expect(status).toBe(200);
  expect(body).toEqual({
    entries: [
      {
        id: expect.stringMatching(/^led_/),
        account_id: person.accountId,
        seq: 1,
        kind: 'grant',
        amount: 1000,
        balance_after: 1000,
        description: 'Free plan',
        expires_at: null,
        created_at: expect.stringMatching(/Z$/),
      },
    ],
    next_cursor: null,
  });
});

test('200: pages are newest first, without gaps or repetitions; a last page that is exactly full has no next cursor', async () => {
  const person = await withEntries(6);
  const pages: number[][] = [];
  let cursor: string | null | undefined;
  do {
    const { body } = await ledger(person, { limit: 2, ...(cursor && { cursor }) });
    pages.push(body.entries.map(({ seq }) => seq));
    cursor = body.next_cursor;
  } while (cursor);
  expect(pages).toEqual([
    [6, 5],
    [4, 3],
    [2, 1],
  ]);
});

test('200: a page with all entries has no next cursor, whether exactly full or not', async () => {
  const person = await withEntries(3);
  for (const limit of [3, 4, 200]) {
    const { body } = await ledger(person, { limit });
    expect([body.entries.length, body.next_cursor]).toEqual([3, null]);
  }
});

test('200: entries that are added meanwhile do not shift the pages', async () => {
  const person = await withEntries(3);
  const first = await ledger(person, { limit: 2 });
  await grant(service, person.accountId, { amount: 1 });
  const { body } = await ledger(person, { limit: 2, cursor: first.body.next_cursor ?? '' });
  expect(body.entries.map(({ seq }) => seq)).toEqual([1]);
});

test('200: 50 entries by default', async () => {
  const person = await withEntries(51);
  const { body } = await ledger(person);
  expect(body.entries).toHaveLength(50);
  expect(body.next_cursor).not.toBeNull();
});

test('200: for a key with read access, with the entries of its own account only', async () => {
  const [person] = [await join(service), await join(service)];
  const key = service.client.with({ token: keyToken({ account: person.accountId }) });
  const { status, body } = await key.call(listLedger, { params: { id: person.accountId } });
  expect(status).toBe(200);
  expect(body.entries.map(({ account_id }) => account_id)).toEqual([person.accountId]);
});

test.each([
  ['limit=0', 'query.limit: must be at least 1'],
  ['limit=201', 'query.limit: must be at most 200'],
  ['limit=-1', 'query.limit: must be a whole number from 1 to 200, not "-1".'],
  ['limit=1.5', 'query.limit: must be a whole number from 1 to 200, not "1.5".'],
  ['limit=', 'query.limit: must be a whole number from 1 to 200, not "".'],
  ['limit=2&limit=3', 'query.limit: is given more than once; join values with commas.'],
  ['cursor=', 'query.cursor: must be the next_cursor of the page before'],
  ['cursor=abc', 'query.cursor: is not a next_cursor of this list with these filters.'],
  ['cursor=W10', 'query.cursor: is not a next_cursor of this list with these filters.'],
])('400: ?%s', async (query, detail) => {
  const { accountId, session } = await join(service);
  const { status, text } = await getRaw(service, `/v2/accounts/${accountId}/ledger?${query}`, session.access_token);
  const problem = JSON.parse(text);
  expect([status, problem.type]).toEqual([400, 'https://problems.test/validation-error']);
  expect(problem.detail).toContain(detail);
});

test('400: the cursor of another account’s ledger, and a forged one', async () => {
  const [mine, theirs] = [await withEntries(3), await withEntries(3)];
  const foreign = (await ledger(theirs, { limit: 1 })).body.next_cursor ?? '';
  const own = (await ledger(mine, { limit: 1 })).body.next_cursor ?? '';
  const [scope] = JSON.parse(Buffer.from(own, 'base64url').toString());
  const made = (...position: unknown[]) => Buffer.from(JSON.stringify([scope, ...position])).toString('base64url');
  for (const cursor of [foreign, made('2'), made(2, 3), made(1.5), made(), made(null), `${own}AAAA`]) {
    const { status, problem } = await ledger(mine, { cursor });
    expect([status, problem?.kind]).toEqual([400, 'validation-error']);
    expect(problem?.detail).toBe('query.cursor: is not a next_cursor of this list with these filters.');
  }
});

test('401: without a token', async () => {
  const { status, problem } = await service.client.call(listLedger, { params: { id: newId('account') } });
  expect([status, problem?.kind]).toEqual([401, 'unauthorized']);
});

test('403: without access to account', async () => {
  const account = newId('account');
  const client = service.client.with({ token: personToken({ account, svc: { billing: 'w' } }) });
  const { status, problem } = await client.call(listLedger, { params: { id: account } });
  expect([status, problem?.kind, problem?.detail]).toEqual([
    403,
    'forbidden',
    'This credential has no access to account.',
  ]);
});

test.each(['ledger', 'balance'])(
  '404: the %s of another account gets the same response byte for byte as an invalid id',
  async (list) => {
    const [mine, theirs] = [await join(service), await join(service)];
    const get = (id: string) => getRaw(service, `/v2/accounts/${id}/${list}`, mine.session.access_token);
    const answer = await get(theirs.accountId);
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text)).toEqual({
      type: 'https://problems.test/not-found',
      title: 'Not found',
      status: 404,
      detail: 'There is no such resource, or it is not visible to this account.',
    });
    const others = [newId('account'), mine.userId, mine.accountId.toUpperCase(), 'acc_1', '1', '%20', 'x'.repeat(500)];
    for (const id of others) expect(await get(id)).toEqual(answer);
  },
);
