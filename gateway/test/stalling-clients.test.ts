import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, personToken } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';
import { startGateway, startTcpUpstream, startUpstream, type TestGateway } from './support.ts';

/** How long an upstream may be silent. */
const UPSTREAM_TIMEOUT_MS = '400';
const stalledMs = 1_200;
const token = personToken();

let undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.reverse()) await step();
  undo = [];
});

async function startBefore(
  upstream: { url: string; stop(): Promise<void> },
  listening?: { clientTimeout: number },
): Promise<TestGateway> {
  const gateway = await startGateway(upstream, { UPSTREAM_TIMEOUT_MS }, listening);
  undo.push(upstream.stop, () => gateway.stop());
  return gateway;
}

function open({ port }: TestGateway, headers: Record<string, string>): ClientRequest {
  const all = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers };
  const req = request({ port, path: '/v2/campaigns', method: 'POST', agent: false, headers: all });
  undo.push(() => req.destroy());
  return req.on('error', () => {});
}

async function answerOf(req: ClientRequest): Promise<{ status: number | undefined; text: string }> {
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of res) text += String(chunk);
  return { status: res.statusCode, text };
}

async function expectNoFailure(gateway: TestGateway): Promise<void> {
  expect(await gateway.count('upstream_failures_total')).toBe(0);
  expect(gateway.logs.text()).not.toContain('An upstream failed');
}

const framings: [string, Record<string, string>][] = [
  ['of a known length', { 'content-length': '8' }],
  ['in chunks', {}],
];

test.each(framings)(
  'a body %s that pauses for longer than an upstream may is waited for, and is not its failure',
  async (_what, headers) => {
    const gateway = await startBefore(await startUpstream((res, { body }) => void res.end(body)));
    const req = open(gateway, headers);
    req.write('{"a"');
    await sleep(stalledMs);
    req.end(':"b"');
    expect(await answerOf(req)).toEqual({ status: 200, text: '{"a":"b"' });
    await expectNoFailure(gateway);
  },
);

test.each(framings)(
  '400: a body %s that stalls is its client’s fault, and not a failure of the upstream',
  async (...given) => {
    const upstream = await startUpstream();
    const gateway = await startBefore(upstream, { clientTimeout: stalledMs });
    const req = open(gateway, given[1]);
    req.write('{"a"');
    const { status, text } = await answerOf(req);
    expect([status, text]).toEqual([400, expect.stringContaining('The request did not arrive in time.')]);
    await eventually(() => expect(gateway.logs.text()).toContain('"status":499'));
    await eventually(() => expect(upstream.connections.open).toBe(0));
    await expectNoFailure(gateway);
  },
);

test('a client that leaves in the middle of its body is no failure of the upstream', async () => {
  const upstream = await startUpstream();
  const gateway = await startBefore(upstream);
  const req = open(gateway, { 'content-length': '8' });
  req.write('{"a"');
  await eventually(() => expect(upstream.started).toHaveLength(1));
  req.destroy();
  await eventually(() => expect(gateway.logs.text()).toContain('"status":499'));
  await eventually(() => expect(upstream.connections.open).toBe(0));
  await expectNoFailure(gateway);
});

test('502: an upstream that stops reading a body has failed, and not its client', async () => {
  const gateway = await startBefore(await startTcpUpstream((socket) => socket.once('data', () => socket.pause())));
  const req = open(gateway, { 'content-length': '50000000' });
  req.write(Buffer.alloc(40_000_000));
  expect((await answerOf(req)).status).toBe(502);
  expect(gateway.logs.text()).toContain('An upstream failed');
});
