import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { eventually, personToken } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Respond, range, startGateway, startUpstream, type TestGateway, type Upstream } from './support.ts';

let respond: Respond;
let upstream: Upstream;
let gateway: TestGateway;
beforeEach(async () => {
  upstream = await startUpstream((res, seen) => respond(res, seen));
  gateway = await startGateway(upstream);
});
afterEach(async () => {
  await gateway.stop();
  await upstream.stop();
});

const token = personToken();
const path = '/v2/campaigns';
const never: Respond = () => {};

function begin(method = 'GET', headers: Record<string, string> = {}): ClientRequest {
  const own = { authorization: `Bearer ${token}`, ...headers };
  return request({ port: gateway.port, path, method, agent: false, headers: own }).on('error', () => {});
}

/** The connection to the service is closed, nothing was logged as a failure, and the gateway still serves. */
async function expectCleanedUp(): Promise<void> {
  await eventually(() => expect(upstream.connections.open).toBe(0));
  expect(gateway.logs.text()).not.toMatch(/An upstream failed|The gateway failed/);
  respond = (res) => void res.end('{}');
  expect((await gateway.send(path, { token })).status).toBe(200);
}

test('clients that disconnect before the response', async () => {
  respond = never;
  const clients = range(20).map(() => begin().end());
  await eventually(() => expect(upstream.seen).toHaveLength(20));
  for (const client of clients) client.destroy();
  await expectCleanedUp();
});

test('a client that disconnects in the middle of its body', async () => {
  respond = never;
  for (const headers of [{ 'content-length': '1000' }, { 'transfer-encoding': 'chunked' }]) {
    const client = begin('POST', headers);
    client.write('half');
    const before = upstream.started.length;
    await eventually(() => expect(upstream.started).toHaveLength(before + 1));
    client.destroy();
    await eventually(() => expect(upstream.connections.open).toBe(0));
  }
  expect(upstream.seen).toHaveLength(0);
  await expectCleanedUp();
});

test('a client that disconnects in the middle of the response', async () => {
  const closed = Promise.withResolvers<void>();
  respond = (res) => {
    res.on('close', () => closed.resolve());
    res.write(Buffer.alloc(10_000_000));
  };
  const client = begin().end();
  const [res] = (await once(client, 'response')) as [IncomingMessage];
  res.on('error', () => {});
  await once(res, 'data');
  client.destroy();
  await closed.promise;
  await expectCleanedUp();
});

test('a client that does not read slows the service down and does not fill the memory of the gateway', async () => {
  let written = 0;
  respond = (res) => {
    const write = () => {
      written++;
      if (!res.write(Buffer.alloc(1_000_000)) && written < 1_000) res.once('drain', write);
    };
    write();
  };
  const client = begin().end();
  const [res] = (await once(client, 'response')) as [IncomingMessage];
  res.on('error', () => {}).pause();
  // In this time the gateway would have read everything, if back-pressure did not stop it.
  for (const _ of range(300)) await gateway.send('/v2/nothing');
  // No more than the buffers of two connections hold.
  expect(written).toBeLessThan(100);
  client.destroy();
  await expectCleanedUp();
});

test('a client that reads slowly gets the complete response', async () => {
  const size = 10_000_000;
  respond = (res) => void res.end(Buffer.alloc(size));
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

test('pipelined requests whose client disconnects', async () => {
  respond = never;
  const socket = connect(gateway.port, '127.0.0.1').on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`.repeat(5));
  await eventually(() => expect(upstream.seen).toHaveLength(5));
  socket.destroy();
  await expectCleanedUp();
});
