import { listen, type RunningServer } from '@attribution/http';
import { captureLogs, problemBase } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';
import express from 'express';
import { Counter, Gauge, Registry } from 'prom-client';
import { closeApp } from '../src/app.ts';
import { type HealthOptions, serveHealth } from '../src/health.ts';
import { problemOf, send } from './support.ts';

const running: RunningServer[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close(Date.now() + 2_000)));
});

async function serve(options: Partial<HealthOptions> = {}) {
  const app = express();
  const { logger } = captureLogs();
  serveHealth(app, { checks: {}, registry: new Registry(), problemBase, ...options });
  closeApp(app, { logger, problemBase });
  const server = await listen(app, { host: '127.0.0.1', port: 0, problemBase });
  running.push(server);
  return (path: string) => send(server.port, path);
}

const works = async () => {};
const fails = async (): Promise<void> => {
  throw new Error('connect ECONNREFUSED 10.0.0.1:5432');
};
const throws = (): Promise<void> => {
  throw new Error('at once');
};
const never = () => new Promise<void>(() => {});
const notReady = (names: string) => ({
  status: 503,
  kind: 'unavailable',
  detail: `Not ready: ${names}.`,
  media: 'application/problem+json',
});

test('200: ready while every dependency works, and names the dependencies', async () => {
  const get = await serve({ checks: { database: works, broker: works } });
  const answer = await get('/readyz');
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.text)).toEqual({ status: 'ok', checks: ['database', 'broker'] });
});

test('503: not ready, with the names of the failing dependencies but not the reasons; still alive', async () => {
  const get = await serve({ checks: { database: fails, broker: works, cache: throws } });
  const answer = await get('/readyz');
  expect(problemOf(answer)).toEqual(notReady('database, cache'));
  expect(answer.headers['retry-after']).toBe('1');
  expect(answer.text).not.toContain('ECONNREFUSED');
  expect(await get('/healthz')).toMatchObject({ status: 200, text: '{"status":"ok"}' });
});

test('503: a dependency that hangs is not ready, and delays neither the response nor the other checks for long', async () => {
  const get = await serve({ checks: { database: never, broker: never, cache: works } });
  expect(problemOf(await get('/readyz'))).toEqual(notReady('database, broker'));
});

test('200: a tolerated dependency that is down or hangs is named as failing, and does not delay the response', async () => {
  const get = await serve({ checks: { database: works }, tolerated: { broker: fails, search: never, cache: works } });
  const asked = Date.now();
  const answer = await get('/readyz');
  expect(answer.status).toBe(200);
  expect(JSON.parse(answer.text)).toEqual({
    status: 'degraded',
    checks: ['database', 'broker', 'search', 'cache'],
    failing: ['broker', 'search'],
  });
  // The gateway waits 2 s for this response.
  expect(Date.now() - asked).toBeLessThan(1_900);
});

test('503: about to stop although every dependency works; still alive', async () => {
  let stopping = false;
  const get = await serve({ checks: { database: works }, stopping: () => stopping });
  expect((await get('/readyz')).status).toBe(200);
  stopping = true;
  expect(problemOf(await get('/readyz'))).toEqual(notReady('stopping'));
  expect((await get('/healthz')).status).toBe(200);
});

test('503: a balancer learns of a stop without waiting for any check', async () => {
  let asked = 0;
  const count = async () => void asked++;
  const get = await serve({ checks: { database: count }, tolerated: { broker: count }, stopping: () => true });
  expect(problemOf(await get('/readyz'))).toEqual(notReady('stopping'));
  expect(asked).toBe(0);
});

test('ready again as soon as the dependency works again', async () => {
  let check = fails;
  const get = await serve({ checks: { database: () => check() } });
  expect((await get('/readyz')).status).toBe(503);
  check = works;
  expect((await get('/readyz')).status).toBe(200);
});

test('200: metrics are Prometheus text, and are refreshed for each scrape', async () => {
  const registry = new Registry();
  new Counter({ name: 'things_total', help: 'Things', labelNames: ['kind'], registers: [registry] }).inc(
    { kind: 'a "quoted" one' },
    3,
  );
  const waiting = new Gauge({ name: 'waiting', help: 'What waits', registers: [registry] });
  const get = await serve({ registry, refresh: async () => waiting.set(7) });
  const answer = await get('/metrics');
  expect(answer.headers['content-type']).toMatch(/^text\/plain; ?version=0\.0\.4; ?charset=utf-8$/);
  expect(answer.text).toContain('# TYPE things_total counter\nthings_total{kind="a \\"quoted\\" one"} 3');
  expect(answer.text).toContain('# TYPE waiting gauge\nwaiting 7');
});

test('503: metrics that cannot be refreshed are not served', async () => {
  const get = await serve({ refresh: fails });
  expect(problemOf(await get('/metrics'))).toMatchObject({ status: 503, kind: 'unavailable' });
});
