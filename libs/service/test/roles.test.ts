import { createVerifier } from '@attribution/auth';
import { accountEvents, accountPurged } from '@attribution/contracts';
import { listen, type RunningServer } from '@attribution/http';
import { newId } from '@attribution/ids';
import { createInProcessTransport, newEvent } from '@attribution/messaging';
import type { RunningRole } from '@attribution/runtime';
import {
  captureLogs,
  createTestDatabase,
  eventually,
  openBareDatabase,
  problemBase,
  testInternal,
  testKeys,
} from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { implement, openService, type Service } from '../src/index.ts';
import { declare, send } from './support.ts';

const hour = 60 * 60 * 1000;

let database: Awaited<ReturnType<typeof createTestDatabase>>;
/** What ran in which role: `worker: behind`. */
let ran: string[];
let published: string[];
const started: { service: Service; server: RunningServer }[] = [];
beforeEach(async () => {
  database = await createTestDatabase('organization');
  ran = [];
  published = [];
});
afterEach(async () => {
  for (const { service, server } of started.splice(0)) {
    await server.close(Date.now() + 2_000);
    await service.drain(Date.now() + 2_000);
    await service.close();
  }
  await database.drop();
});

/** One process of a service, on a database that its other processes share. */
async function start(role: RunningRole, { broker = true } = {}) {
  const inProcess = createInProcessTransport();
  const transport: typeof inProcess = {
    ...inProcess,
    async check() {
      if (!broker) throw new Error('There is no broker');
    },
    async publish(messages) {
      published.push(...messages.map(({ envelope }) => `${role}: ${envelope.type}`));
      return { acknowledged: messages.map(({ envelope }) => envelope.event_id), failed: [] };
    },
  };
  const opened = openService(
    'organization',
    {
      role,
      databaseUrl: database.url,
      ...(role !== 'api' && { transport }),
      verifier: createVerifier(testKeys.public),
      internal: testInternal('organization'),
      logger: captureLogs().logger,
      problemBase,
      checkAnswers: true,
    },
    openBareDatabase,
  );
  const note = (name: string) => async () => void ran.push(`${role}: ${name}`);
  const service = opened.assemble({
    publishes: [accountEvents],
    implementations: [implement(declare({ method: 'GET', path: '/v2/things' }), async () => {})],
    jobs: [
      { name: 'behind', every: hour, run: note('behind') },
      { name: 'of-requests', every: hour, runsIn: 'api', run: note('of-requests') },
    ],
  });
  service.start();
  const server = await listen(service.app, { host: '127.0.0.1', port: 0, problemBase });
  started.push({ service, server });
  const get = async (path: string) => send(server.port, path);
  return { ...opened, get };
}

test('an api serves requests, runs the jobs that concern its own memory, and needs no broker', async () => {
  const { get } = await start('api');
  expect((await get('/v2/things')).status).toBe(204);
  expect(JSON.parse((await get('/readyz')).text)).toEqual({ status: 'ok', checks: ['database'] });
  await eventually(() => expect(ran).toEqual(['api: of-requests']));
  expect((await get('/metrics')).text).not.toContain('outbox_pending');
});

test('a worker serves liveness, readiness and metrics, and no endpoints', async () => {
  const { get } = await start('worker');
  expect((await get('/v2/things')).status).toBe(404);
  expect((await get('/healthz')).status).toBe(200);
  expect(JSON.parse((await get('/readyz')).text)).toEqual({ status: 'ok', checks: ['database', 'broker'] });
  expect((await get('/metrics')).text).toContain('outbox_pending');
  await eventually(() => expect(ran).toEqual(['worker: behind']));
});

test('a process of role `all` does both', async () => {
  const { get } = await start('all');
  expect((await get('/v2/things')).status).toBe(204);
  await eventually(() => expect(ran.toSorted()).toEqual(['all: behind', 'all: of-requests']));
});

test('without its broker a worker is not ready, as it can do nothing else; a process that also serves requests is', async () => {
  const worker = await start('worker', { broker: false });
  expect((await worker.get('/readyz')).status).toBe(503);
  const both = await start('all', { broker: false });
  expect(JSON.parse((await both.get('/readyz')).text)).toMatchObject({ status: 'degraded', failing: ['broker'] });
});

test('a job that an api wakes runs in a worker, long before its next scheduled time', async () => {
  const api = await start('api');
  await start('worker');
  await eventually(async () => {
    api.wake('behind');
    expect(ran.filter((line) => line === 'worker: behind').length).toBeGreaterThan(1);
  });
  expect(ran).not.toContain('api: behind');
});

test('an event that an api appends to the outbox is published by a worker, and only there', async () => {
  const api = await start('api');
  await start('worker');
  const account = newId('account');
  await api.database.sqlTransaction((tx) =>
    api.outbox.append(
      tx,
      newEvent(accountPurged, { account_id: account }, { accountId: account, occurredAt: new Date() }),
    ),
  );
  await eventually(() => expect(published).toEqual(['worker: account.purged']));
});

test('only an api can run without a transport', () => {
  const dependencies = {
    databaseUrl: database.url,
    verifier: createVerifier(testKeys.public),
    internal: testInternal('organization'),
    logger: captureLogs().logger,
    problemBase,
    checkAnswers: true,
  };
  expect(() => openService('organization', dependencies, openBareDatabase)).toThrow('transport');
});
