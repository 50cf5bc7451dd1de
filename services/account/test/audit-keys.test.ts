import { createVerifier } from '@attribution/auth';
import { createClient } from '@attribution/contracts';
import { listen } from '@attribution/http';
import { createInProcessTransport } from '@attribution/messaging';
import { eventually, problemBase, type TestService, testInternal, testKeys } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createKeyUses } from '../src/api-keys/index.ts';
import account from '../src/index.ts';
import { type AccountDatabase, openAccountDatabase } from '../src/store.ts';
import { atOnce, join, type Person, rows, startAccountService } from './support.ts';
import { auditRecordsOf } from './support-audit.ts';
import { auditRecordsOn, exchange, type Key, makeKey, outcomeOf, readKey } from './support-keys.ts';

let service: TestService;
let database: AccountDatabase;
let ada: Person;
let made: Key;
let key: { id: string; account_id: string };

const url = () => String(service.db.options.connectionString);
beforeAll(async () => {
  service = await startAccountService();
  database = openAccountDatabase({ url: url(), poolSize: 20 });
  ada = await join(service);
});
beforeEach(async () => {
  made = await makeKey(ada.client);
  key = { id: made.id, account_id: ada.accountId };
});
afterAll(async () => {
  await database.close();
  await service.stop();
});

/** Each replica of the service has its own. */
const replica = () => createKeyUses({ database, clock: service.clock });
const from = (ip: string, id = 'request-4711') => ({
  id,
  platformId: '01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f',
  ip,
  userAgent: 'Mosaic/0.9',
  traceparent: '',
});
const used = (ip: string) => ({
  account_id: ada.accountId,
  action: 'api_key.used',
  outcome: 'done',
  actor_type: 'api_key',
  actor_id: key.id,
  subject_id: key.id,
  ip,
  details: {},
});
const wrong = (ip: string, attempts: number) => ({
  ...used(ip),
  action: 'api_key.exchanged',
  outcome: 'refused',
  actor_type: 'unknown',
  actor_id: null,
  details: { reason: 'wrong_secret', attempts },
});

test('a use is recorded with the address of the last one, and again after a minute', async () => {
  const uses = replica();
  const records = await auditRecordsOf(service, async () => {
    for (const ip of ['203.0.113.1', '203.0.113.2']) uses.note(key, from(ip));
    await uses.flush();
    service.clock.advance({ seconds: 50 });
    uses.note(key, from('203.0.113.3'));
    await uses.flush();
    service.clock.advance({ seconds: 10 });
    uses.note(key, from('203.0.113.4'));
    await uses.flush();
    await uses.flush();
  });
  expect(records).toEqual([used('203.0.113.2'), used('203.0.113.4')]);
});

test('a record has the time, the request and the client of the use, not of the flush', async () => {
  const uses = replica();
  const before = service.clock.now().getTime();
  uses.note(key, from('203.0.113.1', 'request-0815'));
  service.clock.advance({ seconds: 40 });
  await uses.flush();
  const [record] = await rows<{ occurred_at: Date }>(
    service,
    "SELECT occurred_at, request_id, user_agent FROM audit_log WHERE subject_id = $1 AND action = 'api_key.used'",
    key.id,
  );
  expect(record).toMatchObject({ request_id: 'request-0815', user_agent: 'Mosaic/0.9' });
  expect((record?.occurred_at.getTime() ?? 0) - before).toBeLessThan(20_000);
});

test('20 replicas with uses at the same time leave one record', async () => {
  const records = await auditRecordsOf(service, () =>
    atOnce(async (i) => {
      const uses = replica();
      uses.note(key, from(`203.0.113.${i}`));
      await uses.flush();
    }),
  );
  expect(records).toMatchObject([{ action: 'api_key.used' }]);
});

test('wrong secrets are recorded per address with their number, and do not count as uses', async () => {
  const uses = replica();
  const records = await auditRecordsOf(service, async () => {
    for (const ip of ['203.0.113.1', '203.0.113.2', '203.0.113.1']) uses.noteWrongSecret(key, from(ip));
    await uses.flush();
    uses.noteWrongSecret(key, from('203.0.113.1'));
    await uses.flush();
  });
  expect(records).toEqual([wrong('203.0.113.1', 2), wrong('203.0.113.2', 1), wrong('203.0.113.1', 1)]);
  expect((await readKey(ada.client, key.id)).last_used_at).toBeNull();
});

test('memory is bounded: with very many addresses, attempts are counted per key', async () => {
  const uses = replica();
  for (let i = 0; i < 10_050; i++) uses.noteWrongSecret(key, from(`2001:db8::${i.toString(16)}`));
  uses.note(key, from('203.0.113.9'));
  const records = await auditRecordsOf(service, () => uses.flush());
  const refusals = records.filter(({ outcome }) => outcome === 'refused');
  expect(refusals).toHaveLength(10_001);
  expect(refusals.at(-1)?.details).toEqual({ reason: 'wrong_secret', attempts: 50 });
  expect(records.at(-1)).toEqual(used('203.0.113.9'));
});

test('a use and its record are written together or not at all; uses that could not be written accumulate until they can', async () => {
  const uses = replica();
  uses.note(key, from('203.0.113.1'));
  uses.noteWrongSecret(key, from('203.0.113.2'));
  await service.db.query(`ALTER TABLE audit_log ADD CONSTRAINT refuse CHECK (action <> 'api_key.used') NOT VALID`);
  await expect(uses.flush()).rejects.toThrow('refuse');
  await service.db.query('ALTER TABLE audit_log DROP CONSTRAINT refuse');
  expect((await readKey(ada.client, key.id)).last_used_at).toBeNull();
  expect(await auditRecordsOn(service, key.id)).toHaveLength(1);
  uses.noteWrongSecret(key, from('203.0.113.2'));
  const records = await auditRecordsOf(service, () => uses.flush());
  expect(records).toEqual([used('203.0.113.1'), wrong('203.0.113.2', 2)]);
  expect((await readKey(ada.client, key.id)).last_used_at).not.toBeNull();
});

test('the service records an exchange and a wrong secret, without the secret; an unknown id is not recorded', async () => {
  const other = await makeKey(ada.client);
  const records = await auditRecordsOf(service, async () => {
    await exchange(service, made);
    await exchange(service, made);
    await outcomeOf(service, { ...made, access_key_secret: other.access_key_secret });
    await outcomeOf(service, { ...made, access_key_id: `atp_stage_${'x'.repeat(22)}` });
    await eventually(async () => expect(await auditRecordsOn(service, key.id)).toHaveLength(3));
  });
  expect(records.toSorted((a, b) => (a.action < b.action ? -1 : 1))).toEqual([
    wrong('127.0.0.1', 1),
    used('127.0.0.1'),
  ]);
  const secrets = [made, other].flatMap((one) => [one.access_key_secret, one.access_key_id]);
  expect(secrets.filter((secret) => JSON.stringify(records).includes(secret))).toEqual([]);
});

test('nothing is written while a request is answered, and everything is written when the service stops', async () => {
  const stopping = account.create(
    {
      databaseUrl: url(),
      transport: createInProcessTransport(),
      verifier: createVerifier(testKeys.public),
      internal: testInternal('account'),
      logger: service.logs.logger,
      problemBase,
      checkAnswers: true,
      clock: service.clock,
    },
    {
      ORGANIZATION_URL: 'http://127.0.0.1:1',
      PASSWORD_PEPPER: 'of no matter here: nobody logs in to it',
      SECRET_KEYS: Buffer.alloc(32, 7).toString('base64'),
      TOKEN_PRIVATE_KEYS: JSON.stringify(testKeys.private),
      MAIL_DIR: '/tmp',
    },
  );
  const server = await listen(stopping.app, { host: '127.0.0.1', port: 0, problemBase });
  const client = createClient({ baseUrl: `http://127.0.0.1:${server.port}` });
  expect((await exchange({ ...service, client }, made)).status).toBe(200);
  await exchange({ ...service, client }, { ...made, access_key_secret: (await makeKey(ada.client)).access_key_secret });
  expect(await auditRecordsOn(service, key.id)).toHaveLength(1);
  await server.close(Date.now() + 1_000);
  await stopping.drain(Date.now() + 2_000);
  await stopping.close();
  const records = (await auditRecordsOn(service, key.id)).map(({ action }) => action).sort();
  expect(records).toEqual(['api_key.created', 'api_key.exchanged', 'api_key.used']);
});
