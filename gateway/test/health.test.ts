import { eventually } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';
import { expectProblem, startGateway, startTcpUpstream, startUpstream, type TestGateway } from './support.ts';

let undo: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of undo) await stop();
  undo = [];
});

/** One service that can be told whether it is ready; the others are. */
async function open(billing: { url: string; stop(): Promise<void> }): Promise<TestGateway> {
  const ready = await startUpstream();
  const gateway = await startGateway(ready, { BILLING_URL: billing.url });
  undo.push(() => gateway.stop(), ready.stop, billing.stop);
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

test('503: a service that says it is not ready is named, until it is', async () => {
  let status = 503;
  const gateway = await open(await startUpstream((res) => void res.writeHead(status).end()));
  const reply = await gateway.send('/healthz');
  expectProblem(reply, 'unavailable', /^Not ready: billing\.$/);
  expect(reply.headers['retry-after']).toBe('1');
  expectProblem(await gateway.send('/healthz', { method: 'GET' }), 'unavailable', 'billing');
  status = 200;
  await eventually(async () => expect((await gateway.send('/healthz')).status).toBe(200));
});

test('503: a service that is away', async () => {
  const gone = await startTcpUpstream(() => {});
  await gone.stop();
  const gateway = await open({ url: gone.url, stop: async () => {} });
  const reply = await gateway.send('/healthz');
  expectProblem(reply, 'unavailable', /^Not ready: billing\.$/);
  expect(reply.body.toString()).not.toContain(new URL(gone.url).port);
});

test.each([
  ['hangs', () => {}],
  ['speaks noise', (socket: { end(text: string): void }) => socket.end('noise')],
])('503: a service that %s', async (_what, speak) => {
  const gateway = await open(await startTcpUpstream((socket) => void socket.once('data', () => speak(socket))));
  expectProblem(await gateway.send('/healthz'), 'unavailable', /^Not ready: billing\.$/);
});

test('503: several are named, in one answer', async () => {
  const failing = await startUpstream((res) => void res.writeHead(500).end());
  const gateway = await startGateway(failing);
  undo.push(() => gateway.stop(), failing.stop);
  expectProblem(
    await gateway.send('/healthz'),
    'unavailable',
    /^Not ready: account, organization, campaign, billing\.$/,
  );
});

test('many who ask at once cost each service one question', async () => {
  const billing = await startUpstream();
  const gateway = await open(billing);
  await Promise.all(Array.from({ length: 50 }, () => gateway.send('/healthz')));
  expect(billing.seen).toHaveLength(1);
});

test('health asks for no token, counts against no limit, and has no trailing forms', async () => {
  const gateway = await open(await startUpstream());
  expect((await gateway.send('/healthz', { token: 'garbage' })).status).toBe(200);
  expect((await gateway.send('/healthz', { method: 'HEAD' })).status).toBe(200);
  for (const path of ['/healthz/', '/HEALTHZ', '/readyz/', '/metrics'])
    expectProblem(await gateway.send(path), 'not-found');
  expectProblem(await gateway.send('/healthz', { method: 'POST' }), 'not-found');
});

test('/readyz: 200 whatever becomes of the services, so that a balancer keeps what still works; 503 once it is to stop', async () => {
  const failing = await startUpstream((res) => void res.writeHead(500).end());
  const gateway = await startGateway(failing);
  undo.push(() => gateway.stop(), failing.stop);
  expect((await gateway.send('/readyz')).status).toBe(200);
  expect(failing.seen).toHaveLength(0);
  gateway.retire();
  expectProblem(await gateway.send('/readyz'), 'unavailable', /^Not ready: stopping\.$/);
  expect((await gateway.send('/docs/')).status).toBe(200);
});
