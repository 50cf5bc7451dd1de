import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@attribution/contracts';
import { listen, type Upload } from '@attribution/http';
import { eventually, personToken, problemBase } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { implement } from '../src/index.ts';
import { type App, declare, invalid, problemOf, type Sent, startApp } from './support.ts';

const maxBytes = 200_000;
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

/** What the handler does with the file before it responds. */
let onFile: (upload: Upload) => unknown;
let given: Upload[];
beforeEach(() => {
  given = [];
  onFile = () => {};
});

const sendFile = implement(
  declare({
    operation: 'send_file',
    external: true,
    method: 'POST',
    path: '/v2/files',
    access: { credential: 'any', roles: ['owner'] },
    query: z.object({ name: z.string().max(3).optional() }),
    upload: { media: ['text/csv', 'application/x-ndjson'], max_bytes: maxBytes },
    success: {
      status: 200,
      description: '',
      body: z.object({ media: z.string(), bytes: z.int(), digest: z.string() }),
    },
  }),
  async ({ upload }) => {
    given.push(upload);
    await onFile(upload);
    const { media, bytes, digest } = upload;
    return { media, bytes, digest };
  },
);

let app: App;
beforeAll(async () => {
  app = await startApp([sendFile]);
});
afterAll(() => app.stop());

const path = '/v2/files';
const csv = { 'content-type': 'text/csv' };
const authorization = `Bearer ${personToken({ role: 'owner' })}`;
const post = ({ headers = {}, body = 'a,b\n', ...sent }: Sent = {}, at = path) =>
  app.send(at, { method: 'POST', headers: { authorization, ...csv, ...headers }, body, ...sent });

async function contentOf(upload: Upload): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of upload.read()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** A request whose body the test writes piece by piece. */
function open(headers: Record<string, string> = {}, { port, at = path } = { port: app.port, at: path }): ClientRequest {
  const options = { port, host: '127.0.0.1', path: at, method: 'POST', agent: false } as const;
  return request({ ...options, headers: { authorization, ...csv, ...headers } }).on('error', () => {});
}

async function answerOf(req: ClientRequest) {
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  let text = '';
  for await (const chunk of res) text += String(chunk);
  return { status: res.statusCode ?? 0, headers: res.headers, text };
}

describe('an uploaded file', () => {
  test.each([false, true])('reaches the handler byte for byte, as often as it reads (chunked: %s)', async (chunked) => {
    const body = randomBytes(maxBytes);
    const seen: Buffer[] = [];
    onFile = async (upload) => {
      for (let n = 0; n < 2; n++) seen.push(await contentOf(upload));
    };
    const { status, text } = await post({ body, chunked });
    expect([status, JSON.parse(text)]).toEqual([200, { media: 'text/csv', bytes: body.length, digest: sha256(body) }]);
    expect(seen.map(sha256)).toEqual([sha256(body), sha256(body)]);
  });

  test('is deleted when the handler is done, whether it responded, refused or failed', async () => {
    for (const outcome of [() => {}, () => Promise.reject(Problem.notFound()), () => Promise.reject(new Error('No'))]) {
      onFile = outcome;
      await post();
    }
    expect(given).toHaveLength(3);
    for (const upload of given) await expect(contentOf(upload)).rejects.toThrow();
  });

  test('is complete although it arrives slowly, in small pieces', async () => {
    const req = open();
    for (const piece of ['a,', 'b\n', '1', ',2\n']) {
      req.write(piece);
      await sleep(50);
    }
    req.end();
    const { text } = await answerOf(req);
    expect(JSON.parse(text)).toMatchObject({ bytes: 8, digest: sha256('a,b\n1,2\n') });
  });
});

describe('the media type', () => {
  test.each([
    ['text/csv', 'text/csv'],
    ['Text/CSV', 'text/csv'],
    ['text/csv; charset=utf-8', 'text/csv'],
    ['text/csv;charset="UTF-8"', 'text/csv'],
    ['text/csv; header=present; charset=utf-8', 'text/csv'],
    ['application/x-ndjson', 'application/x-ndjson'],
    ['application/x-ndjson;charset=UTF-8', 'application/x-ndjson'],
  ])('%s is taken as %s', async (type, media) => {
    const { status, text } = await post({ headers: { 'content-type': type } });
    expect([status, JSON.parse(text)]).toMatchObject([200, { media }]);
  });

  const oneOf = 'Content-Type: must be one of text/csv, application/x-ndjson.';
  test.each([
    ['application/json', oneOf],
    ['multipart/form-data; boundary=x', oneOf],
    ['text/csvx', oneOf],
    ['', oneOf],
    ['text/csv; charset=iso-8859-1', 'Content-Type: the charset must be utf-8.'],
    ['text/csv; charset=utf-16', 'Content-Type: the charset must be utf-8.'],
    ['text/csv; header=absent', 'Content-Type: header=absent is not supported.'],
    ['application/x-ndjson; header=present', 'Content-Type: header=present is not supported.'],
    ['text/csv; separator=;', 'Content-Type: separator= is not supported.'],
  ])('400: %s', async (type, detail) => {
    expect(problemOf(await post({ headers: { 'content-type': type } }))).toEqual(invalid(detail));
    expect(given).toEqual([]);
  });

  test('400: none', async () => {
    const headers = { authorization };
    expect(problemOf(await app.send(path, { method: 'POST', headers, body: 'a' }))).toEqual(invalid(oneOf));
  });
});

describe('the body', () => {
  test.each(['gzip', 'br', 'deflate', 'gzip, identity'])('400: is not accepted as %s', async (encoding) => {
    const answer = await post({ headers: { 'content-encoding': encoding } });
    expect(problemOf(answer)).toEqual(invalid('Content-Encoding: is not supported.'));
  });

  test('identity is accepted', async () => {
    expect((await post({ headers: { 'content-encoding': 'identity' } })).status).toBe(200);
  });

  test('400: must not be empty, with a content length, in chunks, or without either', async () => {
    for (const sent of [{ body: '' }, { body: '', chunked: true }])
      expect(problemOf(await post(sent))).toEqual(invalid('body: is required.'));
    const none = await app.send(path, { method: 'POST', headers: { authorization, ...csv } });
    expect(problemOf(none)).toEqual(invalid('body: is required.'));
  });

  test('400: must not exceed the limit of the contract; exactly the limit is accepted', async () => {
    for (const chunked of [false, true]) {
      const answer = await post({ body: Buffer.alloc(maxBytes + 1, 'a'), chunked });
      expect(problemOf(answer)).toEqual(invalid(`body: is larger than ${maxBytes} bytes.`));
      expect((await post({ body: Buffer.alloc(maxBytes, 'a'), chunked })).status).toBe(200);
    }
    expect(given).toHaveLength(2);
  });
});

describe('a refusal comes before the body', () => {
  test.each<[number, string, Record<string, string>]>([
    [401, 'no token', { authorization: '' }],
    [403, 'a role without permission', { authorization: `Bearer ${personToken({ role: 'viewer' })}` }],
    [400, 'another media type', { 'content-type': 'text/html' }],
    [400, 'an encoding', { 'content-encoding': 'gzip' }],
    [400, 'a length over the limit', { 'content-length': String(maxBytes + 1) }],
  ])('%d for %s: answered while nothing of it is sent', async (status, _what, headers) => {
    const req = open(headers);
    req.flushHeaders();
    expect((await answerOf(req)).status).toBe(status);
    expect(given).toEqual([]);
    req.destroy();
  });

  test('400 for the query and 400 for the Idempotency-Key: before the body too', async () => {
    const req = open({}, { port: app.port, at: `${path}?name=long` });
    req.flushHeaders();
    expect(problemOf(await answerOf(req)).detail).toMatch(/^query\.name/);
    req.destroy();
  });

  test('400 as soon as a body without a content length exceeds the limit, while the client still sends', async () => {
    const req = open();
    req.write(Buffer.alloc(maxBytes, 'a'));
    req.write('b');
    expect(problemOf(await answerOf(req))).toEqual(invalid(`body: is larger than ${maxBytes} bytes.`));
    req.destroy();
  });
});

test('the connection stays usable after a body was refused', async () => {
  const socket = connect({ port: app.port, host: '127.0.0.1' });
  let text = '';
  socket.on('data', (bytes) => (text += String(bytes)));
  const head = (length: number, type: string) =>
    `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;
  socket.write(head(500_000, 'text/csv') + 'x'.repeat(500_000));
  socket.write(head(150_000, 'text/html') + 'y'.repeat(150_000));
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nContent-Type: text/csv\r\nTransfer-Encoding: chunked\r\n\r\n`,
  );
  for (let n = 0; n < 5; n++) socket.write(`ea60\r\n${'z'.repeat(60_000)}\r\n`);
  socket.write('0\r\n\r\n');
  socket.write(`${head(4, 'text/csv')}a,b\n`);
  await eventually(() => expect(text).toContain(sha256('a,b\n')));
  expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['400', '400', '400', '200']);
  socket.destroy();
});

test('an aborted upload does not reach the handler, and no error is logged', async () => {
  const logged = app.logs.text().length;
  for (const headers of [{ 'content-length': '100000' }, {}]) {
    const req = open(headers as Record<string, string>);
    req.write('a,b\n');
    await sleep(50);
    req.destroy();
  }
  await eventually(() =>
    expect(
      app.logs
        .text()
        .slice(logged)
        .match(/"operation":"send_file"/g),
    ).toHaveLength(2),
  );
  expect(given).toEqual([]);
  expect(app.logs.text().slice(logged)).not.toContain('A request failed');
});

describe('timeouts', () => {
  const clientTimeout = 2_000; // Long enough for several checks on a busy machine.
  let undo: (() => unknown)[] = [];
  afterEach(async () => {
    for (const step of undo.reverse()) await step();
    undo = [];
  });

  async function serve(handler: (req: IncomingMessage) => Promise<number>): Promise<number> {
    const server = await listen(
      (req, res) =>
        void handler(req).then(
          (size) => res.end(String(size)),
          () => {},
        ),
      {
        host: '127.0.0.1',
        port: 0,
        problemBase,
        clientTimeout,
      },
    );
    undo.push(() => server.close(0));
    return server.port;
  }
  async function sizeOf(req: IncomingMessage): Promise<number> {
    let size = 0;
    for await (const chunk of req) size += (chunk as Buffer).length;
    return size;
  }

  test.each<[string, Record<string, string>]>([
    ['a length', { 'content-length': '12000000' }],
    ['chunks', {}],
  ])('an upload of %s that goes on may take longer than a request that stops', async (_what, headers) => {
    const req = open(headers, { port: await serve(sizeOf), at: '/' });
    undo.push(() => req.destroy());
    const answer = answerOf(req);
    for (let n = 0; n < 60; n++) {
      req.write(Buffer.alloc(200_000)); // 2 MB a second.
      await sleep(100);
    }
    req.end();
    expect(await answer).toMatchObject({ status: 200, text: '12000000' });
  });

  test('an upload that stops is refused in time, however much arrived before', async () => {
    const ended = Promise.withResolvers<unknown>();
    const port = await serve((req) =>
      sizeOf(req).catch((error: unknown) => {
        ended.resolve(error);
        throw error;
      }),
    );
    const req = open({ 'content-length': '10000000' }, { port, at: '/' });
    undo.push(() => req.destroy());
    req.write(Buffer.alloc(9_000_000));
    const began = performance.now();
    expect(problemOf(await answerOf(req))).toEqual(invalid('The request did not arrive in time.'));
    expect(performance.now() - began).toBeLessThan(10_000);
    expect(await ended.promise).toMatchObject({ code: 'ECONNRESET' });
  });

  test('an upload is not refused because the service reads it slowly', async () => {
    const port = await serve(async (req) => {
      await sleep(3 * clientTimeout);
      return sizeOf(req);
    });
    const req = open({}, { port, at: '/' });
    req.end(Buffer.alloc(30_000_000));
    expect(await answerOf(req)).toMatchObject({ status: 200, text: '30000000' });
  });
});
