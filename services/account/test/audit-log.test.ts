import { listAuditLog, logout, updateAccount } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { keyToken, personToken, supportToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { enter, getRaw, join, type Person, rows, startAccountService } from './support.ts';
import { addMember } from './support-members.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const read = async (client: TestService['client'], query = {}) => (await client.call(listAuditLog, { query })).body;
const rename = ({ client, accountId }: Person, name: string) =>
  client.call(updateAccount, { params: { id: accountId }, body: { name } });

/** Records of the account at these times, oldest first. */
async function addRecords(accountId: string, ...times: string[]): Promise<void> {
  for (const time of times) {
    await service.db.query(
      `INSERT INTO audit_log (id, account_id, occurred_at, action, outcome, actor_type, actor_id, details)
       VALUES (uuidv7(), $1, $2, 'test.done', 'done', 'service', 'billing', '{}')`,
      [accountId, time],
    );
  }
}

test('200: records with actor, action, subject, origin and time, newest first', async () => {
  const person = await join(service);
  const headers = { 'x-forwarded-for': '198.51.100.7', 'user-agent': 'Mosaic/0.9', 'x-request-id': 'request-0001' };
  await rename({ ...person, client: person.client.with({ headers }) }, 'Lovelace & Co.');
  const { entries, next_cursor } = await read(person.client);
  expect(next_cursor).toBeNull();
  expect(entries).toEqual([
    {
      id: expect.any(String),
      occurred_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      action: 'account.changed',
      outcome: 'done',
      actor: { type: 'person', id: person.userId },
      subject: { type: 'account', id: person.accountId },
      ip: '198.51.100.7',
      user_agent: 'Mosaic/0.9',
      request_id: 'request-0001',
      platform_request_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      details: { name: 'Lovelace & Co.' },
    },
    expect.objectContaining({ action: 'session.opened' }),
    expect.objectContaining({ action: 'account.created' }),
  ]);
});

test('200: only records of this account', async () => {
  const [ada, bob] = [await join(service), await join(service)];
  await rename(bob, 'Bob & Co.');
  const actors = new Set((await read(ada.client)).entries.map(({ actor }) => actor.id));
  expect([...actors]).toEqual([ada.userId]);
});

test('200: an admin and support read the same as the owner', async () => {
  const owner = await join(service);
  const admin = await addMember(service, owner, { role: 'admin' });
  const support = service.client.with({ token: supportToken({ account: owner.accountId }) });
  const whole = await read(owner.client);
  expect(whole.entries.map(({ action }) => action)).toContain('user.joined');
  for (const client of [admin.client, support]) expect(await read(client)).toEqual(whole);
});

test('200: filters by action, by actor, and by both', async () => {
  const owner = await join(service);
  const admin = await addMember(service, owner, { role: 'admin' });
  await rename(owner, 'One');
  await service.client.with({ token: (await enter(service, admin.email)).access_token }).call(logout);
  const actionsOf = async (query: object) => (await read(owner.client, query)).entries.map(({ action }) => action);
  expect(await actionsOf({ action: 'account.changed' })).toEqual(['account.changed']);
  expect(await actionsOf({ actor: admin.userId })).toEqual([
    'session.ended',
    'session.opened',
    'session.opened',
    'user.joined',
  ]);
  expect(await actionsOf({ actor: admin.userId, action: 'session.ended' })).toEqual(['session.ended']);
  expect(await actionsOf({ actor: owner.userId, action: 'session.ended' })).toEqual([]);
  expect(await actionsOf({ actor: newId('user') })).toEqual([]);
});

test('200: from and to are days, both inclusive to the millisecond', async () => {
  const { client, accountId } = await join(service);
  const times = [
    '2025-03-01T23:59:59.999Z',
    '2025-03-02T00:00:00.000Z',
    '2025-03-03T23:59:59.999Z',
    '2025-03-04T00:00:00.000Z',
  ];
  await addRecords(accountId, ...times);
  const timesOf = async (query: object) =>
    (await read(client, { action: 'test.done', ...query })).entries.map(({ occurred_at }) => occurred_at).reverse();
  expect(await timesOf({ from: '2025-03-02', to: '2025-03-03' })).toEqual(times.slice(1, 3));
  expect(await timesOf({ from: '2025-03-02' })).toEqual(times.slice(1));
  expect(await timesOf({ to: '2025-03-03' })).toEqual(times.slice(0, 3));
  expect(await timesOf({ from: '2025-03-03', to: '2025-03-02' })).toEqual([]);
  expect(await timesOf({ from: '0001-01-01', to: '9999-12-31' })).toEqual(times);
});

test('200: pages by cursor, each record once, filtered or not; a full last page has no cursor', async () => {
  const { client, accountId } = await join(service);
  await addRecords(accountId, ...Array.from({ length: 6 }, (_, i) => `2025-01-0${i + 1}T00:00:00Z`));
  for (const query of [{}, { action: 'test.done', from: '2025-01-03' }]) {
    const all = (await read(client, query)).entries.map(({ id }) => id);
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof read>> = await read(client, {
        ...query,
        limit: 2,
        ...(cursor && { cursor }),
      });
      expect(page.entries).toHaveLength(2);
      seen.push(...page.entries.map(({ id }) => id));
      cursor = page.next_cursor;
    } while (cursor);
    expect(seen).toEqual(all);
  }
});

test('400: a cursor of other filters, of another list, and a forged one', async () => {
  const { client, accountId } = await join(service);
  await addRecords(accountId, '2025-01-01T00:00:00Z');
  const { next_cursor } = await read(client, { limit: 1 });
  const cursor = next_cursor ?? '';
  const [scope] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as string[];
  const forged = Buffer.from(JSON.stringify([scope, 'x'])).toString('base64url');
  for (const query of [{ cursor, action: 'test.done' }, { cursor: 'abc' }, { cursor: forged }]) {
    const { problem } = await client.call(listAuditLog, { query });
    expect(problem).toMatchObject({ status: 400, detail: expect.stringContaining('query.cursor: ') });
  }
});

test.each([
  ['limit', '0'],
  ['limit', '201'],
  ['from', '2025-02-30'],
  ['to', '2025-03-02T00:00:00Z'],
  ['action', ''],
  ['actor', 'x'.repeat(101)],
])('400: %s=%s', async (name, value) => {
  const { client } = await join(service);
  const { problem } = await client.call(listAuditLog, { query: { [name]: value } });
  expect(problem).toMatchObject({ status: 400, detail: expect.stringContaining(`query.${name}: `) });
});

test('400: a filter that is given twice', async () => {
  const { session } = await join(service);
  const { status } = await getRaw(service, '/v2/audit-log?action=a&action=b', session.access_token);
  expect(status).toBe(400);
});

test('401: without a token', async () => {
  expect((await service.client.call(listAuditLog)).problem?.kind).toBe('unauthorized');
});

test('403: a member, an admin’s API key, and an admin without access to the account service', async () => {
  const { accountId: account } = await join(service);
  const tokens = [
    personToken({ account, role: 'member' }),
    keyToken({ account, role: 'admin', key: { type: 'api', readonly: false } }),
    personToken({ account, role: 'admin', svc: { campaign: 'w' } }),
  ];
  for (const token of tokens) {
    const { problem } = await service.client.with({ token }).call(listAuditLog);
    expect([problem?.status, problem?.kind]).toEqual([403, 'forbidden']);
  }
});

test('the log is append-only: the database refuses to change, delete and truncate it', async () => {
  const { accountId } = await join(service);
  const records = () => rows(service, 'SELECT * FROM audit_log WHERE account_id = $1', accountId);
  const before = await records();
  const refused = 'the audit log is append-only';
  for (const sql of [
    "UPDATE audit_log SET action = 'nothing' WHERE account_id = $1",
    'UPDATE audit_log SET ip = ip WHERE account_id = $1',
    'DELETE FROM audit_log WHERE account_id = $1',
  ])
    await expect(service.db.query(sql, [accountId])).rejects.toThrow(refused);
  for (const sql of ['TRUNCATE audit_log', 'TRUNCATE audit_log, sessions CASCADE'])
    await expect(service.db.query(sql)).rejects.toThrow(refused);
  expect(await records()).toEqual(before);
  expect(before).toHaveLength(2);
});

test('records outlive the user and the account that they are about', async () => {
  const { accountId, userId } = await join(service);
  await service.db.query('DELETE FROM accounts WHERE id = $1', [accountId]);
  await service.db.query('DELETE FROM users WHERE id = $1', [userId]);
  expect(await rows(service, 'SELECT action FROM audit_log WHERE subject_id = $1', userId)).toEqual([
    { action: 'session.opened' },
  ]);
});
