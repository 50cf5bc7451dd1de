import type { Endpoint } from '@attribution/contracts';
import { eventually, personToken } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { implement } from '../src/index.ts';
import { declare, json, problemOf, send } from './support.ts';
import { account, startKeyedService } from './support-idempotency.ts';

let service: Awaited<ReturnType<typeof startKeyedService>>;
beforeAll(async () => {
  service = await startKeyedService();
});
beforeEach(() => service.empty());
afterAll(() => service.stop());

test('503: failed work stores nothing, and can be repeated under its key', async () => {
  service.during(() => {
    throw new Error('Too late');
  });
  expect(problemOf(await service.post())).toMatchObject({ status: 503, kind: 'unavailable' });
  expect([await service.countOf('things'), await service.countOf('idempotency_keys')]).toEqual([0, 0]);
  service.during(() => {});
  expect((await service.post()).status).toBe(201);
});

test('503: the key and the effect are one transaction: if the key cannot be stored, nothing is done', async () => {
  await service.pool.query(`
    CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
    CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON idempotency_keys DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`);
  expect(problemOf(await service.post())).toMatchObject({ status: 503 });
  expect(await service.countOf('things')).toBe(0);
  await service.pool.query('DROP FUNCTION refuse CASCADE');
  expect((await service.post()).status).toBe(201);
});

test('a second request under the key waits for the first, and does the work if the first fails', async () => {
  const inside = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  let attempts = 0;
  service.during(async () => {
    if (++attempts > 1) return;
    inside.resolve();
    await go.promise;
    throw new Error('Too late');
  });
  const first = service.post();
  await inside.promise;
  const second = service.post();
  await eventually(async () => {
    const waiting = "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    expect((await service.pool.query(waiting)).rowCount).toBe(1);
  });
  go.resolve();
  expect([(await first).status, (await second).status]).toEqual([503, 201]);
  expect(await service.countOf('things')).toBe(1);
});

test('201: a transaction that is retried stores its key once', async () => {
  let attempts = 0;
  service.during(async (tx) => {
    if (++attempts < 3) await tx.$executeRawUnsafe("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '40001'; END $$");
  });
  const first = await service.post();
  expect([first.status, attempts]).toEqual([201, 3]);
  expect((await service.post()).text).toBe(first.text);
  expect(await service.countOf('things')).toBe(1);
});

test('503: an endpoint that returns anything but its transaction’s result is a bug, and logged', async () => {
  expect(problemOf(await service.post({ path: '/v2/careless' }))).toMatchObject({ status: 503 });
  expect(service.logs.text()).toContain('careless answers something else than its transaction');
});

test('503: an endpoint that begins a second transaction is a bug, and logged, with a key and without', async () => {
  const headers = { ...json, authorization: `Bearer ${personToken({ account })}` };
  const unkeyed = await send(service.port, '/v2/twice', { method: 'POST', headers, body: '{"name":"one"}' });
  for (const answer of [unkeyed, await service.post({ path: '/v2/twice' })])
    expect(problemOf(answer)).toMatchObject({ status: 503 });
  expect(service.logs.text().split('twice begins a second transaction').length - 1).toBe(2);
});

test('an endpoint that accepts a key cannot be implemented without a transaction', () => {
  const keyed: Endpoint = declare({
    method: 'POST',
    path: '/v2/things',
    access: { credential: 'any' },
    idempotent: true,
  });
  expect(() => implement(keyed, async () => undefined as never)).toThrow('probe writes, and is for implementWrite');
});
