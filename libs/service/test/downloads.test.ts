import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Problem } from '@attribution/contracts';
import { type Download, openSpool, type Spool } from '@attribution/http';
import { eventually } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { implement } from '../src/index.ts';
import { type App, declare, problemOf, send, startApp } from './support.ts';

const contract = declare({
  operation: 'get_file',
  method: 'GET',
  path: '/v2/files',
  success: { status: 200, description: '', download: { media: ['text/csv', 'application/x-ndjson'] } },
});

let next: () => Promise<Download>;
/** The spools of a test. The test counts how many were closed. */
let spools: { closed: number; read: number }[];
beforeEach(() => {
  spools = [];
  next = async () => fileOf(['a,b\r\n', '1,é\r\n']);
});

async function fileOf(pieces: Iterable<string | Buffer>, over: Partial<Download> = {}): Promise<Download> {
  const spool = await openSpool();
  for (const piece of pieces) await spool.write(piece);
  return { media: 'text/csv', filename: 'estate-2026.csv', spool: watched(spool), ...over };
}

function watched(spool: Spool): Spool {
  const seen = { closed: 0, read: 0 };
  spools.push(seen);
  return {
    get bytes() {
      return spool.bytes;
    },
    get digest() {
      return spool.digest;
    },
    write: (chunk) => spool.write(chunk),
    async *read() {
      for await (const chunk of spool.read()) {
        seen.read += chunk.length;
        yield chunk;
      }
    },
    async close() {
      seen.closed++;
      await spool.close();
    },
  };
}

let app: App;
beforeAll(async () => {
  app = await startApp([implement(contract, () => next() as never)]);
});
afterAll(() => app.stop());

const get = (method = 'GET') => send(app.port, '/v2/files', { method });
const allClosed = () =>
  eventually(() => expect(spools.map(({ closed }) => closed)).toEqual(Array<number>(spools.length).fill(1)));

async function begin(): Promise<IncomingMessage> {
  const req = request({ port: app.port, host: '127.0.0.1', path: '/v2/files', agent: false }).end();
  req.on('error', () => {});
  const [res] = (await once(req, 'response')) as [IncomingMessage];
  return res;
}

test('200: a file has its media type, its length and its name, and must not be cached', async () => {
  const { status, headers, text } = await get();
  expect([status, text]).toEqual([200, 'a,b\r\n1,é\r\n']);
  expect(headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': 'attachment; filename="estate-2026.csv"',
    'content-length': '11',
    'cache-control': 'no-store',
  });
  await allClosed();
});

test('200: an empty file', async () => {
  next = () => fileOf([]);
  expect(await get()).toMatchObject({ status: 200, text: '', headers: { 'content-length': '0' } });
  await allClosed();
});

test('200: a HEAD has the same headers, and no file', async () => {
  const { date: _, 'x-request-id': __, ...headers } = (await get()).headers;
  const head = await get('HEAD');
  expect(head).toMatchObject({ status: 200, text: '', headers });
  await allClosed();
});

test('200: a large file arrives byte for byte', async () => {
  const pieces = Array.from({ length: 30 }, () => randomBytes(1_000_000));
  next = () => fileOf(pieces);
  const chunks: Buffer[] = [];
  for await (const chunk of await begin()) chunks.push(chunk as Buffer);
  expect(Buffer.concat(chunks).equals(Buffer.concat(pieces))).toBe(true);
  await allClosed();
});

test('a file is read no faster than the client receives it', async () => {
  next = () => fileOf(Array.from({ length: 60 }, () => randomBytes(1_000_000)));
  const res = await begin();
  let read = -1;
  while ((spools[0]?.read ?? 0) > read) {
    read = spools[0]?.read ?? 0;
    await sleep(500);
  }
  expect(read).toBeLessThan(30_000_000); // What the system's own buffers hold.
  await sleep(300);
  expect(spools[0]?.read).toBe(read);
  let size = 0;
  for await (const chunk of res) size += (chunk as Buffer).length;
  expect(size).toBe(60_000_000);
});

test('a file is closed when the client disconnects halfway, and no error is logged', async () => {
  next = () => fileOf(Array.from({ length: 60 }, () => randomBytes(1_000_000)));
  const logged = app.logs.text().length;
  const res = await begin();
  res.on('error', () => {});
  res.destroy();
  await allClosed();
  expect(app.logs.text().slice(logged)).not.toContain('A request failed');
});

test('a file that cannot be read to its end is cut off, so that it never looks complete', async () => {
  next = async () => {
    const file = await fileOf([randomBytes(100_000)]);
    const { spool } = file;
    async function* failing() {
      for await (const chunk of spool.read()) {
        yield chunk.subarray(0, 1000);
        throw new Error('The disk is gone');
      }
    }
    return { ...file, spool: { ...spool, bytes: spool.bytes, read: () => failing() as AsyncIterable<Buffer> } };
  };
  await expect(get()).rejects.toThrow('aborted');
  await allClosed();
  await eventually(() => expect(app.logs.text()).toContain('The disk is gone'));
});

test('503: a file that cannot be read at all is a problem', async () => {
  next = async () => {
    const file = await fileOf(['a']);
    await file.spool.close();
    return file;
  };
  const answer = await get();
  expect(problemOf(answer)).toMatchObject({ status: 503, media: 'application/problem+json' });
  expect(answer.headers).not.toHaveProperty('content-disposition');
});

test('404: a problem that the handler throws instead', async () => {
  next = () => Promise.reject(Problem.notFound());
  const answer = await get();
  expect(problemOf(answer)).toMatchObject({ status: 404, media: 'application/problem+json' });
  expect(answer.headers).not.toHaveProperty('content-disposition');
});

test.each([
  ['a media type that the contract does not have', { media: 'text/html' }],
  ['a name that would end its quotes', { filename: 'a".csv' }],
  ['a name with a line break', { filename: 'a\r\nset-cookie: a=b.csv' }],
  ['a name that is not ASCII', { filename: 'é.csv' }],
  ['no name', { filename: '' }],
])('503: %s is a fault of ours', async (_what, over) => {
  next = () => fileOf(['a'], over);
  const answer = await get();
  expect(problemOf(answer)).toMatchObject({ status: 503 });
  expect(answer.headers).not.toHaveProperty('content-disposition');
  await allClosed();
});
