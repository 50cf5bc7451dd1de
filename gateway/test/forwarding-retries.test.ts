import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually, personToken } from '@attribution/testing';
import { afterEach, describe, expect, test } from '@jest/globals';
import { expectProblem, startGateway, startTcpUpstream, startUpstream, type TestGateway } from './support.ts';

const token = personToken();
const path = '/v2/campaigns';
let cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of cleanups) await stop();
  cleanups = [];
});

/** An upstream that responds to the first request on a connection, and resets the connection at the second. */
async function closingAtTheSecond() {
  let requests = 0;
  const upstream = await startTcpUpstream((socket) => {
    socket.once('data', () => {
      requests++;
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
      socket.once('data', () => {
        requests++;
        socket.resetAndDestroy();
      });
    });
  });
  const gateway = await startGateway(upstream);
  cleanups.push(() => gateway.stop(), upstream.stop);
  return { gateway, requests: () => requests };
}

test.each([
  ['GET', undefined],
  ['POST', '{}'],
])('a %s that a service accepts without a response is not sent again', async (method, body) => {
  const { gateway, requests } = await closingAtTheSecond();
  const sending = { method, token, ...(body && { body, headers: { 'content-length': body.length } }) };
  expect((await gateway.send(path, sending)).status).toBe(200);
  expectProblem(await gateway.send(path, sending), 'upstream-error');
  expect(requests()).toBe(2);
});

test('an idle connection that a service has closed is not used for the next request', async () => {
  let connections = 0;
  const upstream = await startTcpUpstream((socket) => {
    connections++;
    socket.once('data', () => {
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}');
    });
  });
  const gateway = await startGateway(upstream);
  cleanups.push(() => gateway.stop(), upstream.stop);
  for (let n = 1; n <= 20; n++) {
    expect((await gateway.send(path, { token })).status).toBe(200);
    expect(connections).toBe(n);
  }
});

/** Sends a body in two pieces, the second after the first has been forwarded. */
async function sendInPieces({ port }: TestGateway, headers = {}): Promise<{ status: number | undefined }> {
  const authorization = `Bearer ${token}`;
  const req = request({ port, path, method: 'POST', headers: { authorization, 'content-length': 2, ...headers } });
  req.write('{');
  await sleep(50);
  req.end('}');
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  res.resume();
  await once(res, 'end');
  return { status: res.statusCode };
}

/** Complete requests and those whose body is still arriving use different forwarders. */
describe.each([
  ['a request without a body', (gateway: TestGateway, headers = {}) => gateway.send(path, { token, headers })],
  ['a body that arrives in pieces', sendInPieces],
])('connections, %s', (_, send) => {
  test('are reused for a request that follows soon', async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway(upstream);
    cleanups.push(() => gateway.stop(), upstream.stop);
    for (let n = 0; n < 10; n++) expect((await send(gateway)).status).toBe(200);
    // On a busy machine some requests do not follow soon enough.
    expect(upstream.connections.accepted).toBeLessThan(5);
  });

  test('are closed when idle, before a stopping service closes those without a request for 4 s', async () => {
    const upstream = await startUpstream();
    const gateway = await startGateway(upstream);
    cleanups.push(() => gateway.stop(), upstream.stop);
    expect((await send(gateway)).status).toBe(200);
    expect(upstream.connections.open).toBe(1);
    await eventually(() => expect(upstream.connections.open).toBe(0), 3_500);
    expect((await send(gateway)).status).toBe(200);
  });

  test('stay open for a response that takes longer than an idle connection is kept', async () => {
    const upstream = await startUpstream(async (res, { headers }) => {
      await sleep(Number(headers['x-wait'] ?? 0));
      res.end('{}');
    });
    const gateway = await startGateway(upstream);
    cleanups.push(() => gateway.stop(), upstream.stop);
    expect((await send(gateway)).status).toBe(200);
    const headers = { 'x-wait': '1200' };
    expect((await send(gateway, headers)).status).toBe(200);
  });
});

test('a chunked body that arrives in one piece is forwarded with one kind of framing', async () => {
  let arrived = '';
  const upstream = await startTcpUpstream((socket) => {
    socket.on('data', (bytes) => {
      arrived += bytes.toString();
      if (/whole(\r\n0\r\n\r\n)?$/.test(arrived)) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    });
  });
  const gateway = await startGateway(upstream);
  cleanups.push(() => gateway.stop(), upstream.stop);
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n`;
  const response = await gateway.raw(`${head}Transfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\n`);
  expect(response).toMatch(/^HTTP\/1.1 204 /);
  // Either by its length or in chunks, never both.
  expect(/content-length: 5\r\n/i.test(arrived)).not.toBe(/transfer-encoding: chunked/i.test(arrived));
});
