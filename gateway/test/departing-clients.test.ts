import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { eventually, personToken } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Answer, range, startGateway, startUpstream, type TestGateway, type Upstream } from './support.ts';

let answer: Answer;
let upstream: Upstream;
let gateway: TestGateway;
beforeEach(async () => {
  upstream = await startUpstream((res, seen) => answer(res, seen));
  gateway = await startGateway(upstream);
});
afterEach(async () => {
  await gateway.stop();
  await upstream.stop();
});

const token = personToken();
const path = '/v2/campaigns';
const never: Answer = () => {};

function begin(method = 'GET', headers: Record<string, string> = {}): ClientRequest {
  const own = { authorization: `Bearer ${token}`, ...headers };
  return request({ port: gateway.port, path, method, agent: false, headers: own }).on('error', () => {});
}

/** The service has been let go, nobody was warned, and the gateway serves on. */
async function expectNothingLeft(): Promise<void> {
  await eventually(() => expect(upstream.connections.open).toBe(0));
  expect(gateway.logs.text()).not.toMatch(/An upstream failed|The gateway failed/);
  answer = (res) => void res.end('{}');
  expect((await gateway.send(path, { token })).status).toBe(200);
}

test('clients that go away before the answer', async () => {
  answer = never;
  const clients = range(20).map(() => begin().end());
  await eventually(() => expect(upstream.seen).toHaveLength(20));
  for (const client of clients) client.destroy();
  await expectNothingLeft();
});

test('a client that goes away in the middle of its body', async () => {
  answer = never;
  for (const headers of [{ 'content-length': '1000' }, { 'transfer-encoding': 'chunked' }]) {
    const client = begin('POST', headers);
    client.write('half');
    const before = upstream.started.length;
    await eventually(() => expect(upstream.started).toHaveLength(before + 1));
    client.destroy();
    await eventually(() => expect(upstream.connections.open).toBe(0));
  }
  expect(upstream.seen).toHaveLength(0);
  await expectNothingLeft();
});

test('a client that goes away in the middle of the answer', async () => {
  const closed = Promise.withResolvers<void>();
  answer = (res) => {
    res.on('close', () => closed.resolve());
    res.write(Buffer.alloc(10_000_000));
  };
  const client = begin().end();
  const [res] = (await once(client, 'response')) as [IncomingMessage];
  res.on('error', () => {});
  await once(res, 'data');
  client.destroy();
  await closed.promise;
  await expectNothingLeft();
});

test('a client that does not read holds up the service, not the memory of the gateway', async () => {
  let written = 0;
  answer = (res) => {
    const write = () => {
      written++;
      if (!res.write(Buffer.alloc(1_000_000)) && written < 1_000) res.once('drain', write);
    };
    write();
  };
  const client = begin().end();
  const [res] = (await once(client, 'response')) as [IncomingMessage];
  res.on('error', () => {}).pause();
  // Time enough to take in all of it, were it not held up.
  for (const _ of range(300)) await gateway.send('/v2/nothing');
  // What the buffers of two connections hold, and no more.
  expect(written).toBeLessThan(100);
  client.destroy();
  await expectNothingLeft();
});

test('a client that reads slowly gets the whole answer', async () => {
  const size = 10_000_000;
  answer = (res) => void res.end(Buffer.alloc(size));
  const client = begin().end();
  const [res] = (await once(client, 'response')) as [IncomingMessage];
  let read = 0;
  for await (const chunk of res) {
    read += (chunk as Buffer).length;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect(read).toBe(size);
  expect(gateway.logs.text()).not.toContain('An upstream failed');
});

test('pipelined requests whose client goes away', async () => {
  answer = never;
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`.repeat(5));
  await eventually(() => expect(upstream.seen).toHaveLength(5));
  socket.destroy();
  await expectNothingLeft();
});
