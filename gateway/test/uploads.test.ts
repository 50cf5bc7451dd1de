import { type ChildProcess, fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listen, type RunningServer } from '@attribution/http';
import { eventually, personToken, problemBase, testKeys } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { range, startGateway, type TestGateway } from './support.ts';

/** How the service handles a request. Each test decides when it reads and writes. */
let handle: (req: IncomingMessage, res: ServerResponse) => unknown;
let service: RunningServer;
let gateway: TestGateway;
beforeEach(async () => {
  service = await listen((req, res) => void handle(req, res), { host: '127.0.0.1', port: 0, problemBase });
  gateway = await startGateway({ url: `http://127.0.0.1:${service.port}` });
});
afterEach(async () => {
  await gateway.stop();
  await service.close(0);
});

const path = '/v2/campaigns';
const token = personToken();
const piece = randomBytes(1_000_000);
/** The size of a large body in bytes, and its pieces. */
const large = 80_000_000;
const pieces = range(80);
const digest = createHash('sha256');
for (const _ of pieces) digest.update(piece);
const sha256 = digest.digest('hex');
/** More than the system's buffers of four sockets hold, and far less than a large body. */
const buffered = 30_000_000;

function open(
  method: string,
  headers: Record<string, string> = {},
  { port }: { readonly port: number } = gateway,
): ClientRequest {
  const all = { authorization: `Bearer ${token}`, 'content-type': 'text/csv', ...headers };
  return request({ port, path, method, agent: false, headers: all }).on('error', () => {});
}

async function response(req: ClientRequest): Promise<IncomingMessage> {
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  return res;
}

async function digestOf(stream: IncomingMessage): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of stream) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

/** Writes all pieces, no faster than they are read. Returns a function that says how many bytes have been written. */
function writeAll(to: ClientRequest | ServerResponse): () => number {
  let written = 0;
  const next = () => {
    while (written < large) {
      written += piece.length;
      if (!to.write(piece)) return void to.once('drain', next);
    }
    to.end();
  };
  next();
  return () => written;
}

/** A gateway in a process of its own that measures its memory. */
interface MeasuredGateway {
  readonly port: number;
  /** By how many bytes its buffers have grown at most since the start. */
  maximum(): Promise<number>;
}

const children: ChildProcess[] = [];
afterEach(() => {
  for (const child of children.splice(0)) child.disconnect();
});

async function startMeasuredGateway(): Promise<MeasuredGateway> {
  const args = [`http://127.0.0.1:${service.port}`, JSON.stringify(testKeys.public)];
  const child = fork(join(import.meta.dirname, 'uploads.process.ts'), args, { execArgv: ['--expose-gc'] });
  children.push(child);
  const next = async () => (await once(child, 'message'))[0] as { port: number; maximum: number };
  const { port } = await next();
  child.send('watch');
  await next();
  return {
    port,
    async maximum() {
      child.send('maximum');
      return (await next()).maximum;
    },
  };
}

test.each<[string, Record<string, string>]>([
  ['of a known length', { 'content-length': String(large) }],
  ['in chunks', {}],
])(
  'a large upload %s is forwarded as it arrives, and waits while the service does not read',
  async (_what, headers) => {
    const go = Promise.withResolvers<void>();
    handle = async (req, res) => {
      await go.promise;
      res.end(await digestOf(req));
    };
    const measured = await startMeasuredGateway();
    const req = open('POST', headers, measured);
    const responded = response(req);
    const written = writeAll(req);
    let before = -1;
    while (written() > before) {
      before = written();
      await sleep(200);
    }
    expect(before).toBeLessThan(buffered);
    go.resolve();
    const res = await responded;
    let text = '';
    for await (const chunk of res) text += String(chunk);
    expect([res.statusCode, text]).toEqual([200, sha256]);
    expect(await measured.maximum()).toBeLessThan(buffered);
  },
);

test.each<[string, Record<string, string>]>([
  ['of a known length', { 'content-length': String(large) }],
  ['in chunks', {}],
])(
  'a large download %s is passed back as it is written, and waits while the client does not read',
  async (_what, headers) => {
    let written = () => 0;
    handle = (_req, res) => {
      res.writeHead(200, { ...headers, 'content-disposition': 'attachment; filename="a.csv"' });
      written = writeAll(res);
    };
    const measured = await startMeasuredGateway();
    const res = await response(open('GET', {}, measured).end());
    expect(res.headers['content-disposition']).toBe('attachment; filename="a.csv"');
    let before = -1;
    while (written() > before) {
      before = written();
      await sleep(200);
    }
    expect(before).toBeLessThan(buffered);
    expect(await digestOf(res)).toBe(sha256);
    expect(await measured.maximum()).toBeLessThan(buffered);
  },
);

test('401: the gateway refuses a request before its body, while the client still sends', async () => {
  handle = () => {
    throw new Error('The request was forwarded');
  };
  for (const headers of [{ 'content-length': String(large) }, {}]) {
    const req = open('POST', { ...headers, authorization: 'Bearer x' });
    req.flushHeaders();
    expect((await response(req)).statusCode).toBe(401);
    req.destroy();
  }
});

test.each<[string, Record<string, string>]>([
  ['of a known length', { 'content-length': String(large) }],
  ['in chunks', {}],
])('400: a refusal by the service before a body %s reaches a client that keeps sending', async (_what, headers) => {
  handle = (req, res) => {
    if (req.method === 'POST') res.writeHead(400, { 'content-length': '2' }).end('no');
    else res.end('served');
  };
  const waiting = open('POST', headers);
  waiting.write('a,b\n');
  expect((await response(waiting)).statusCode).toBe(400);
  waiting.destroy();

  // A client that reads no response before it has sent everything.
  const socket = connect(gateway.port, '127.0.0.1');
  let text = '';
  socket.on('data', (bytes) => (text += String(bytes)));
  const framing = headers['content-length'] ? `Content-Length: ${large}` : 'Transfer-Encoding: chunked';
  const head = (line: string) => `${line} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n`;
  socket.write(`${head(`POST ${path}`)}${framing}\r\n\r\n`);
  const frame = headers['content-length'] ? ['', ''] : [`${piece.length.toString(16)}\r\n`, '\r\n'];
  for (const _ of pieces) {
    socket.write(frame[0] ?? '');
    const taken = socket.write(piece);
    socket.write(frame[1] ?? '');
    if (!taken) await once(socket, 'drain');
  }
  socket.write(headers['content-length'] ? '' : '0\r\n\r\n');
  socket.write(`${head(`GET ${path}`)}\r\n`);
  await eventually(() => expect(text).toContain('served'));
  expect([...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['400', '200']);
  socket.destroy();
});

test.each<[string, Record<string, string>]>([
  ['of a known length', { 'content-length': String(large) }],
  ['in chunks', {}],
])('a download %s whose service dies in the middle is cut and does not look complete', async (_what, headers) => {
  handle = (_req, res) => {
    res.writeHead(200, headers);
    res.write(piece, () => res.destroy());
  };
  const res = await response(open('GET').end());
  expect(res.statusCode).toBe(200);
  await expect(digestOf(res)).rejects.toMatchObject({ code: 'ECONNRESET' });
  expect(res.complete).toBe(false);
});

test('an upload that the client cuts is cut at the service too', async () => {
  const begun = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<boolean>();
  handle = (req) => {
    req
      .once('data', () => begun.resolve())
      .on('close', () => ended.resolve(req.complete))
      .on('error', () => {});
  };
  const req = open('POST', { 'content-length': String(large) });
  req.write(piece);
  await begun.promise;
  req.destroy();
  expect(await ended.promise).toBe(false);
});

test('502: a client that still sends learns that the service died during its upload', async () => {
  handle = (req) => {
    req.once('data', () => req.socket.destroy());
    req.on('error', () => {});
  };
  const req = open('POST', { 'content-length': String(large) });
  const responded = response(req);
  writeAll(req);
  expect((await responded).statusCode).toBe(502);
});
