import { createApiKey, createMachineKey, deleteApiKey, rotateApiKey, updateApiKey } from '@attribution/contracts';
import { internalToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { join, rows, startAccountService } from './support.ts';
import { auditRecordsOn, keyEvents, makeKey } from './support-keys.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

test('each change of a key is published once, in order, except a rename, which no other service needs', async () => {
  const { client, accountId } = await join(service);
  const key = await makeKey(client);
  await client.call(updateApiKey, { params: { id: key.id }, body: { name: 'Renamed' } });
  const { body: renewed } = await client.call(rotateApiKey, { params: { id: key.id } });
  await client.call(deleteApiKey, { params: { id: renewed.id } });
  const account_id = accountId;
  expect(await keyEvents(service, accountId)).toEqual([
    { type: 'api_key.created', data: { account_id, api_key_id: key.id } },
    { type: 'api_key.rotated', data: { account_id, api_key_id: key.id, new_api_key_id: renewed.id } },
    { type: 'api_key.revoked', data: { account_id, api_key_id: renewed.id } },
  ]);
});

test('each change of a key is in the account’s audit log, with the actor, the origin and the details', async () => {
  const { client, userId, accountId } = await join(service);
  const caller = client.with({ headers: { 'user-agent': 'a browser', 'x-request-id': 'request-4711' } });
  const key = await makeKey(caller, { role: 'member' });
  await caller.call(updateApiKey, { params: { id: key.id }, body: { name: 'Renamed', readonly: false } });
  const { body: renewed } = await caller.call(rotateApiKey, { params: { id: key.id }, body: { grace: '1h' } });
  await caller.call(deleteApiKey, { params: { id: key.id } });
  const done = { outcome: 'done', actor_type: 'person', actor_id: userId };
  expect(await auditRecordsOn(service, key.id)).toEqual([
    { ...done, action: 'api_key.created', details: { name: 'Export', role: 'member', readonly: true } },
    { ...done, action: 'api_key.changed', details: { name: 'Renamed', readonly: false } },
    {
      ...done,
      action: 'api_key.rotated',
      details: { new_api_key_id: renewed.id, old_expires_at: expect.stringMatching(/Z$/) },
    },
    { ...done, action: 'api_key.revoked', details: {} },
  ]);
  const where = await rows(
    service,
    'SELECT DISTINCT account_id, subject_type, ip, user_agent, request_id FROM audit_log WHERE subject_id = $1',
    key.id,
  );
  expect(where).toEqual([
    {
      account_id: accountId,
      subject_type: 'api_key',
      ip: expect.stringContaining('127.0.0.1'),
      user_agent: 'a browser',
      request_id: 'request-4711',
    },
  ]);
});

const tables = ['api_keys', 'api_key_grants', 'audit_log', 'outbox', 'idempotency_keys'];
const whole = async () => Promise.all(tables.map((table) => rows(service, `SELECT * FROM ${table} ORDER BY 1`)));

describe.each(['audit_log', 'outbox'])('503: when %s cannot be written', (table) => {
  /** Every write to the table fails until the work is done. */
  async function withoutRecords(work: () => Promise<{ status: number }>) {
    await service.db.query(`
      CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
      CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse()`);
    try {
      const before = await whole();
      expect((await work()).status).toBe(503);
      expect(await whole()).toEqual(before);
    } finally {
      await service.db.query(`DROP TRIGGER refuse ON ${table}`);
    }
  }

  test('no key is created', async () => {
    const { client, accountId } = await join(service);
    await keyEvents(service, accountId);
    const headers = { 'idempotency-key': 'not-kept' };
    await withoutRecords(() => client.call(createApiKey, { headers, body: { name: 'x' } }));
    const internal = service.client.with({ token: internalToken('device', 'account') });
    const body = { account_id: accountId, type: 'sim', name: 'x' } as const;
    await withoutRecords(() => internal.call(createMachineKey, { body }));
  });

  test('no key is rotated or revoked', async () => {
    const { client, accountId } = await join(service);
    const params = { id: (await makeKey(client)).id };
    await keyEvents(service, accountId);
    await withoutRecords(() => client.call(rotateApiKey, { params }));
    await withoutRecords(() => client.call(deleteApiKey, { params }));
  });
});

test('503: when audit_log cannot be written, no key is changed', async () => {
  const { client } = await join(service);
  const { id } = await makeKey(client);
  const changed = (body: object) => client.call(updateApiKey, { params: { id }, body });
  await service.db.query(`ALTER TABLE audit_log ADD CONSTRAINT refuse CHECK (action <> 'api_key.changed') NOT VALID`);
  expect((await changed({ name: 'x', readonly: false })).status).toBe(503);
  await service.db.query('ALTER TABLE audit_log DROP CONSTRAINT refuse');
  expect((await changed({})).body).toMatchObject({ name: 'Export', readonly: true });
});
