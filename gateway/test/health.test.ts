import { serviceNames } from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';
import { expectProblem, startGateway, startTcpUpstream, startUpstream, type TestGateway } from './support.ts';

let cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of cleanups) await stop();
  cleanups = [];
});

/** A gateway whose Billing is the given upstream; all other services are ready. */
async function open(billing: { url: string; stop(): Promise<void> }): Promise<TestGateway> {
  const ready = await startUpstream();
  const gateway = await startGateway(ready, { BILLING_URL: billing.url });
  cleanups.push(() => gateway.stop(), ready.stop, billing.stop);
  return gateway;
}

test('200: all services are ready', async () => {
  const billing = await startUpstream();
  const gateway = await open(billing);
  const reply = await gateway.send('/healthz');
  expect(reply.status).toBe(200);
  expect(JSON.parse(reply.body.toString())).toEqual({ status: 'ok' });
  expect(billing.seen.map(({ method, url }) => [method, url])).toEqual([['GET', '/readyz']]);
});

test('503: a service that is not ready is named until it is', async () => {
  let status = 503;
  const gateway = await open(await startUpstream((res) => void res.writeHead(status).end()));
  const reply = await gateway.send('/healthz');
  expectProblem(reply, 'unavailable', /^Not ready: billing\.$/);
  expect(reply.headers['retry-after']).toBe('1');
  expectProblem(await gateway.send('/healthz', { method: 'GET' }), 'unavailable', 'billing');
  status = 200;
  await eventually(async () => expect((await gateway.send('/healthz')).status).toBe(200));
});

test('503: a service that is not running', async () => {
  const stopped = await startTcpUpstream(() => {});
  await stopped.stop();
  const gateway = await open({ url: stopped.url, stop: async () => {} });
  const reply = await gateway.send('/healthz');
  expectProblem(reply, 'unavailable', /^Not ready: billing\.$/);
  expect(reply.body.toString()).not.toContain(new URL(stopped.url).port);
});

test.each([
  ['hangs', () => {}],
  ['sends noise', (socket: { end(text: string): void }) => socket.end('noise')],
])('503: a service that %s', async (_what, write) => {
  const gateway = await open(await startTcpUpstream((socket) => void socket.once('data', () => write(socket))));
  expectProblem(await gateway.send('/healthz'), 'unavailable', /^Not ready: billing\.$/);
});

test('503: one response names all services that are not ready', async () => {
  const failing = await startUpstream((res) => void res.writeHead(500).end());
  const gateway = await startGateway(failing);
  cleanups.push(() => gateway.stop(), failing.stop);
  const all = new RegExp(`^Not ready: ${serviceNames.join(', ')}\\.$`);
  expectProblem(await gateway.send('/healthz'), 'unavailable', all);
});

test('many parallel health requests cost each service one request every half second', async () => {
  const billing = await startUpstream();
  const gateway = await open(billing);
  const began = performance.now();
  await Promise.all(Array.from({ length: 50 }, () => gateway.send('/healthz')));
  const halves = Math.floor((performance.now() - began) / 500);
  expect(billing.seen.length).toBeLessThanOrEqual(1 + halves);
});

test('health needs no token, counts against no limit, and has no other spellings', async () => {
  const gateway = await open(await startUpstream());
  expect((await gateway.send('/healthz', { token: 'garbage' })).status).toBe(200);
  expect((await gateway.send('/healthz', { method: 'HEAD' })).status).toBe(200);
  for (const path of ['/healthz/', '/HEALTHZ', '/readyz/', '/metrics'])
    expectProblem(await gateway.send(path), 'not-found');
  expectProblem(await gateway.send('/healthz', { method: 'POST' }), 'not-found');
});

test('/readyz: 200 even if services fail, so that a load balancer keeps the gateway; 503 when it is about to stop', async () => {
  const failing = await startUpstream((res) => void res.writeHead(500).end());
  const gateway = await startGateway(failing);
  cleanups.push(() => gateway.stop(), failing.stop);
  expect((await gateway.send('/readyz')).status).toBe(200);
  expect(failing.seen).toHaveLength(0);
  gateway.retire();
  expectProblem(await gateway.send('/readyz'), 'unavailable', /^Not ready: stopping\.$/);
  expect((await gateway.send('/docs/')).status).toBe(200);
});
