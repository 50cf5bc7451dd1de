import { newId } from '@attribution/ids';
import { createTestClock, createTestDatabase, eventually, type TestDatabase } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createKeyUses } from '../src/api-keys/index.ts';
import { type AccountDatabase, openAccountDatabase } from '../src/store.ts';
import { atOnce, join, startAccountService } from './support.ts';
import { exchange, makeKey, outcomeOf, readKey } from './support-keys.ts';

let own: TestDatabase;
let database: AccountDatabase;
let clock: ReturnType<typeof createTestClock>;
let key: Key;

beforeAll(async () => {
  own = await createTestDatabase('account');
  database = openAccountDatabase({ url: own.url, poolSize: 20 });
});
beforeEach(async () => {
  clock = createTestClock();
  key = await addKey();
});
afterAll(async () => {
  await database.close();
  await own.drop();
});

interface Key {
  readonly id: string;
  readonly account_id: string;
}

async function addKey(): Promise<Key> {
  const [id, accountId] = [newId('api_key'), newId('account')];
  await database.pool.query("INSERT INTO accounts VALUES ($1, 'Ada', 'network', 'active', false, now(), now())", [
    accountId,
  ]);
  await database.pool.query(
    `INSERT INTO api_keys (id, account_id, name, access_key_id, secret_hash, role, readonly, created_at)
     VALUES ($1, $2, 'Export', $1, 'x', 'viewer', true, now())`,
    [id, accountId],
  );
  return { id, account_id: accountId };
}

async function lastUse({ id } = key): Promise<Date | null> {
  const { rows } = await database.pool.query('SELECT last_used_at FROM api_keys WHERE id = $1', [id]);
  return (rows as [{ last_used_at: Date | null }])[0].last_used_at;
}

const from = {
  id: 'request-4711',
  platformId: '01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f',
  ip: '203.0.113.9',
  userAgent: 'Mosaic/0.9',
  traceparent: '',
};

/** The uses of one replica; each replica collects its own. */
const replica = () => createKeyUses({ database, clock });

async function useNow(uses = replica()): Promise<Date> {
  uses.note(key, from);
  await uses.flush();
  const at = await lastUse();
  if (!at) throw new Error('The use was not written');
  return at;
}

test('a use is kept in memory, and written at the next flush with its own time', async () => {
  const uses = replica();
  const before = clock.now();
  uses.note(key, from);
  const after = clock.now();
  expect(await lastUse()).toBeNull();
  clock.advance({ minutes: 3 });
  await uses.flush();
  const at = await lastUse();
  expect(at?.getTime()).toBeGreaterThanOrEqual(before.getTime());
  expect(at?.getTime()).toBeLessThanOrEqual(after.getTime());
});

test('a use within a minute of the last written one is not written; a later one is', async () => {
  const first = await useNow();
  clock.advance({ seconds: 50 });
  expect(await useNow()).toEqual(first);
  clock.advance({ seconds: 10 });
  expect((await useNow()).getTime()).toBeGreaterThanOrEqual(first.getTime() + 60_000);
});

test('of several uses between two flushes the last one is written', async () => {
  const uses = replica();
  uses.note(key, from);
  clock.advance({ minutes: 5 });
  const last = clock.now();
  uses.note(key, from);
  await uses.flush();
  expect((await lastUse())?.getTime()).toBeGreaterThanOrEqual(last.getTime());
});

test('a late flush of another replica does not move the time back', async () => {
  const late = replica();
  late.note(key, from);
  clock.advance({ minutes: 10 });
  const at = await useNow();
  await late.flush();
  expect(await lastUse()).toEqual(at);
});

test('20 replicas that flush at once leave their latest use, or one less than a minute before it', async () => {
  const replicas = await atOnce(async () => {
    clock.advance({ seconds: 7 });
    const uses = replica();
    uses.note(key, from);
    return uses;
  });
  const latest = clock.now().getTime();
  await Promise.all(replicas.map((uses) => uses.flush()));
  const at = (await lastUse())?.getTime() ?? 0;
  expect(at).toBeGreaterThan(latest - 60_000);
});

test('each key has its own time of last use', async () => {
  const [another, unused] = [await addKey(), await addKey()];
  const uses = replica();
  uses.note(key, from);
  clock.advance({ minutes: 2 });
  uses.note(another, from);
  await uses.flush();
  const [first, second] = [await lastUse(), await lastUse(another)];
  expect((second?.getTime() ?? 0) - (first?.getTime() ?? 0)).toBeGreaterThanOrEqual(120_000);
  expect(await lastUse(unused)).toBeNull();
});

test('uses that could not be written are written at the next flush', async () => {
  const uses = replica();
  uses.note(key, from);
  await database.pool.query('ALTER TABLE api_keys RENAME COLUMN last_used_at TO gone');
  await expect(uses.flush()).rejects.toThrow('last_used_at');
  await database.pool.query('ALTER TABLE api_keys RENAME COLUMN gone TO last_used_at');
  await uses.flush();
  expect(await lastUse()).not.toBeNull();
});

test('an exchange notes its key and a refused one does not; the service writes it without a request', async () => {
  const service = await startAccountService();
  try {
    const { client } = await join(service);
    const [used, refused] = [await makeKey(client), await makeKey(client)];
    await exchange(service, used);
    await outcomeOf(service, { ...refused, access_key_secret: used.access_key_secret });
    await service.db.query('UPDATE api_keys SET revoked_at = now() WHERE id = $1', [refused.id]);
    await outcomeOf(service, refused);
    await eventually(async () => expect((await readKey(client, used.id)).last_used_at).not.toBeNull());
    expect((await readKey(client, refused.id)).last_used_at).toBeNull();
  } finally {
    await service.stop();
  }
});
