import { createVerifier } from '@attribution/auth';
import { listen, type RunningServer } from '@attribution/http';
import { createInProcessTransport } from '@attribution/messaging';
import { observeProcess } from '@attribution/runtime';
import {
  captureLogs,
  createTestDatabase,
  eventually,
  openBareDatabase,
  problemBase,
  testInternal,
  testKeys,
} from '@attribution/testing';
import { afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { implement, openService, type Service } from '../src/index.ts';
import { declare, problemOf, send } from './support.ts';

let database: Awaited<ReturnType<typeof createTestDatabase>>;
let logs: ReturnType<typeof captureLogs>;
let service: Service;
let server: RunningServer;
let runs: number;
let brokerAway: boolean;
let held: Promise<void> | undefined;
let wake: (job: string) => void;

beforeEach(async () => {
  database = await createTestDatabase('organization');
  logs = captureLogs();
  runs = 0;
  brokerAway = false;
  held = undefined;
  const transport = {
    ...createInProcessTransport(),
    check: async () => {
      if (brokerAway) throw new Error('no broker');
    },
  };
  const verifier = createVerifier(testKeys.public);
  const dependencies = {
    databaseUrl: database.url,
    transport,
    verifier,
    internal: testInternal('organization'),
    logger: logs.logger,
    problemBase,
    checkAnswers: true,
  };
  const opened = openService('organization', dependencies, openBareDatabase);
  wake = opened.wake;
  service = opened.assemble({
    publishes: [],
    implementations: [implement(declare({ method: 'GET', path: '/v2/things' }), async () => {})],
    jobs: [
      {
        name: 'count',
        every: 60 * 60 * 1000,
        run: async () => {
          runs++;
          await held;
        },
      },
    ],
  });
  await transport.start();
  service.start();
  server = await listen(service.app, { host: '127.0.0.1', port: 0, problemBase });
});
afterEach(async () => {
  await server.close(Date.now() + 2_000);
  await service.drain(Date.now() + 2_000);
  await service.close();
  await database.drop();
});

const get = (path: string) => send(server.port, path);

beforeAll(observeProcess);

test('a service serves its endpoints, liveness, readiness and metrics; everything else is 404', async () => {
  expect((await get('/v2/things')).status).toBe(204);
  expect((await get('/healthz')).status).toBe(200);
  expect(JSON.parse((await get('/readyz')).text)).toEqual({ status: 'ok', checks: ['database', 'broker'] });
  const metrics = (await get('/metrics')).text;
  for (const name of [
    'http_requests_total',
    'http_request_seconds_bucket',
    'outbox_pending',
    'dead_letters',
    'process_cpu_seconds_total',
  ]) {
    expect(metrics).toContain(name);
  }
  expect(problemOf(await get('/v2/others'))).toMatchObject({ status: 404, kind: 'not-found' });
  expect(problemOf(await get('/healthz/'))).toMatchObject({ status: 404 });
});

test('503: without its database the service is alive but not ready, says why, and logs no password', async () => {
  await database.drop();
  await eventually(async () =>
    expect(problemOf(await get('/readyz'))).toMatchObject({ status: 503, detail: 'Not ready: database.' }),
  );
  expect((await get('/healthz')).status).toBe(200);
  expect((await get('/v2/things')).status).toBe(204);
  await eventually(() => expect(logs.text()).toContain('"level":40'));
  expect(logs.text()).not.toContain(new URL(database.url).password);
});

test('jobs run at the start and when they are woken, and no longer once the service is drained', async () => {
  await eventually(() => expect(runs).toBe(1));
  wake('count');
  await eventually(() => expect(runs).toBe(2));
  await service.drain(Date.now() + 2_000);
  wake('count');
  expect(runs).toBe(2);
});

test('200: without its broker the service is ready, because it still serves requests, and names what fails', async () => {
  brokerAway = true;
  const answer = await get('/readyz');
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.text)).toEqual({ status: 'degraded', checks: ['database', 'broker'], failing: ['broker'] });
});

test('503: a service that is about to stop is not ready, and still serves requests', async () => {
  service.retire();
  expect(problemOf(await get('/readyz'))).toMatchObject({ status: 503, detail: 'Not ready: stopping.' });
  expect((await get('/v2/things')).status).toBe(204);
});

test('a hanging job does not keep the service from stopping', async () => {
  await eventually(() => expect(runs).toBe(1));
  const { promise, resolve } = Promise.withResolvers<void>();
  held = promise;
  wake('count');
  await eventually(() => expect(runs).toBe(2));
  const began = Date.now();
  await service.drain(began + 300);
  expect(Date.now() - began).toBeLessThan(2_000);
  resolve();
});
