import { personToken } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';
import { expectProblem, startGateway, startTcpUpstream } from './support.ts';

const token = personToken();
const path = '/v2/campaigns';
let undo: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const stop of undo) await stop();
  undo = [];
});

/** Answers the first request on a connection, and closes it when a second one comes, without a word. */
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
  undo.push(() => gateway.stop(), upstream.stop);
  return { gateway, requests: () => requests };
}

test.each([
  ['GET', undefined],
  ['POST', '{}'],
])('a %s that a service takes and leaves unanswered is not sent again', async (method, body) => {
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
  undo.push(() => gateway.stop(), upstream.stop);
  for (let n = 1; n <= 20; n++) {
    expect((await gateway.send(path, { token })).status).toBe(200);
    expect(connections).toBe(n);
  }
});

test('a body that came in chunks all at once goes on framed in one way', async () => {
  let arrived = '';
  const upstream = await startTcpUpstream((socket) => {
    socket.on('data', (bytes) => {
      arrived += bytes.toString();
      if (/whole(\r\n0\r\n\r\n)?$/.test(arrived)) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    });
  });
  const gateway = await startGateway(upstream);
  undo.push(() => gateway.stop(), upstream.stop);
  const head = `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\nConnection: close\r\n`;
  const answer = await gateway.raw(`${head}Transfer-Encoding: chunked\r\n\r\n5\r\nwhole\r\n0\r\n\r\n`);
  expect(answer).toMatch(/^HTTP\/1.1 204 /);
  // By its length or still in chunks, never by both.
  expect(/content-length: 5\r\n/i.test(arrived)).not.toBe(/transfer-encoding: chunked/i.test(arrived));
});
