import { createHash, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { eventually } from '@attribution/testing';
import { ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openFileStore } from '../src/media/store/files.ts';
import { NoSuchObject, type ObjectStore } from '../src/media/store/port.ts';
import { openS3Store } from '../src/media/store/s3.ts';
import { newBucket, s3Url } from './support-s3.ts';

interface Opened {
  readonly store: ObjectStore;
  /** The names of all objects, and of whatever else is there. */
  names(): Promise<string[]>;
  close(): Promise<void>;
}

async function openFiles(): Promise<Opened> {
  const folder = await mkdtemp(join(tmpdir(), 'test-objects-'));
  return {
    store: openFileStore(folder),
    async names() {
      const entries = await readdir(folder, { recursive: true, withFileTypes: true });
      return entries
        .filter((one) => one.isFile())
        .map((one) => join(one.parentPath, one.name).slice(folder.length + 1));
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
}

async function openBucket(): Promise<Opened> {
  const options = await newBucket();
  const { bucket: Bucket } = options;
  const client = new S3Client({ ...options, forcePathStyle: true });
  const store = openS3Store(options);
  return {
    store,
    async names() {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket }));
      const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
      return [...Contents, ...Uploads].map(({ Key = '' }) => Key);
    },
    async close() {
      store.close();
      client.destroy();
    },
  };
}

const bytesOf = (length: number, seed = 1) => Buffer.alloc(length, createHash('sha256').update(`${seed}`).digest());
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
/** The bytes in chunks as a request brings them. */
async function* chunksOf(bytes: Buffer, size = 65_536): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
async function* failing(bytes: Buffer): AsyncIterable<Buffer> {
  yield* chunksOf(bytes);
  throw new Error('The client has left');
}
const read = async (store: ObjectStore, key: string, range?: { start: number; end: number }) =>
  buffer(await store.get(key, range));

const stores = [
  ['files', openFiles, true],
  ['an S3-compatible store', openBucket, s3Url !== undefined],
] as const;

for (const [name, open, isThere] of stores)
  (isThere ? describe : describe.skip)(`a store of ${name}`, () => {
    let opened: Opened;
    let store: ObjectStore;
    beforeAll(async () => {
      opened = await open();
      store = opened.store;
    });
    afterAll(() => opened.close());

    test.each([
      [1, 65_536],
      [65_536, 65_536],
      [3_000_001, 65_536],
      [3_000_001, 1_000],
    ])('what was put is there, with its size: %d bytes that come in chunks of %d', async (length, chunk) => {
      const [key, bytes] = [`uploads/a/${randomUUID()}`, bytesOf(length)];
      await store.put(key, chunksOf(bytes, chunk), length);
      expect(await store.sizeOf(key)).toBe(length);
      expect((await read(store, key)).equals(bytes)).toBe(true);
    });

    test('parts that arrive at once are read one after the other as the whole', async () => {
      const whole = bytesOf(5_000_000);
      const parts = [0, 1, 2].map((at) => whole.subarray(at * 2_000_000, (at + 1) * 2_000_000));
      const keys = parts.map(() => `uploads/b/${randomUUID()}`);
      await Promise.all(parts.map((part, at) => store.put(keys[at] ?? '', chunksOf(part), part.length)));
      const hash = createHash('sha256');
      for (const key of keys) hash.update(await read(store, key));
      expect(hash.digest('hex')).toBe(sha256(whole));
    });

    test('a range has its first and its last byte', async () => {
      const bytes = bytesOf(100_000);
      await store.put('content/a/ranges', chunksOf(bytes), bytes.length);
      for (const [start, end] of [
        [0, 0],
        [0, 99_999],
        [7, 70_000],
        [99_999, 99_999],
      ] as const)
        expect((await read(store, 'content/a/ranges', { start, end })).equals(bytes.subarray(start, end + 1))).toBe(
          true,
        );
    });

    test('a content is put again and at once under its hash without harm, and read whole meanwhile', async () => {
      const bytes = bytesOf(400_000, 2);
      const key = `content/a/${sha256(bytes)}`;
      await store.put(key, chunksOf(bytes), bytes.length);
      const all = await Promise.all([
        ...[1, 2, 3].map(() => store.put(key, chunksOf(bytes), bytes.length)),
        ...[1, 2, 3].map(async () => expect(sha256(await read(store, key))).toBe(sha256(bytes))),
      ]);
      expect(all).toHaveLength(6);
      expect((await opened.names()).filter((one) => one.startsWith(key))).toEqual([key]);
    });

    test('another content replaces the one that is there as a whole', async () => {
      const [first, second] = [bytesOf(300_000, 3), bytesOf(200_000, 4)];
      await store.put('uploads/c/one', chunksOf(first), first.length);
      await store.put('uploads/c/one', chunksOf(second), second.length);
      expect((await read(store, 'uploads/c/one')).equals(second)).toBe(true);
    });

    test.each<[string, (bytes: Buffer) => AsyncIterable<Buffer>, number, string]>([
      ['fails', failing, 0, 'The client has left'],
      ['has fewer bytes', chunksOf, 1, 'The object has 3000000 bytes instead of 3000001'],
      ['has more bytes', chunksOf, -1, 'bytes instead of 2999999'],
      ['has no bytes', () => chunksOf(Buffer.alloc(0)), 0, 'The object has 0 bytes instead of 3000000'],
    ])(
      'a source that %s is refused, leaves nothing new, and what was there stays',
      async (how, source, more, message) => {
        const [bytes, before] = [bytesOf(3_000_000, 5), bytesOf(1_000, 6)];
        const key = `uploads/d/${how.replaceAll(' ', '-')}`;
        const send = () => store.put(key, source(bytes), bytes.length + more);
        await expect(send()).rejects.toThrow(message);
        expect(await store.sizeOf(key)).toBeUndefined();
        await store.put(key, chunksOf(before), before.length);
        await expect(send()).rejects.toThrow(message);
        expect((await read(store, key)).equals(before)).toBe(true);
        await eventually(async () =>
          expect((await opened.names()).filter((one) => one.startsWith('uploads/d/') && one.startsWith(key))).toEqual([
            key,
          ]),
        );
      },
    );

    test('what is absent has no size, cannot be read, and is deleted without an error', async () => {
      const key = `content/nobody/${randomUUID()}`;
      expect(await store.sizeOf(key)).toBeUndefined();
      await expect(store.get(key)).rejects.toThrow(NoSuchObject);
      await store.remove(key);
    });

    test('what was deleted is absent, and its neighbours are there', async () => {
      const bytes = bytesOf(10);
      for (const key of ['pictures/e/one', 'pictures/e/two']) await store.put(key, chunksOf(bytes), bytes.length);
      await store.remove('pictures/e/one');
      await store.remove('pictures/e/one');
      expect(await store.sizeOf('pictures/e/one')).toBeUndefined();
      expect(await store.sizeOf('pictures/e/two')).toBe(10);
      await store.put('pictures/e/one', chunksOf(bytes), bytes.length);
      expect(await store.sizeOf('pictures/e/one')).toBe(10);
    });

    test('a reader that leaves early harms no other', async () => {
      const bytes = bytesOf(3_000_000);
      await store.put('content/f/long', chunksOf(bytes), bytes.length);
      const readers: Readable[] = await Promise.all(Array.from({ length: 8 }, () => store.get('content/f/long')));
      for (const reader of readers.slice(1)) reader.destroy();
      expect((await buffer(readers[0] as Readable)).equals(bytes)).toBe(true);
    });
  });

/** What a store does that is broken, and what its client says of it. */
const faults: [string, RequestListener, RegExp][] = [
  ['answers 500', (_, response) => void response.writeHead(500).end(), /status 500/],
  [
    'refuses',
    (_, response) => void response.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>'),
    /AccessDenied.*status 403/,
  ],
  ['closes each connection', (request) => void request.socket.destroy(), /socket hang up|ECONNRESET|EPIPE/],
  ['never answers', (request) => void request.resume(), /after 1000 ms of inactivity/],
  ['answers a web page', (_, response) => void response.writeHead(404).end('<!doctype html>'), /parse error/],
];

describe('a broken S3-compatible store', () => {
  const servers: Server[] = [];
  afterAll(() => {
    for (const server of servers) {
      server.closeAllConnections();
      server.close();
    }
  });
  async function openBroken(listener: RequestListener): Promise<ObjectStore> {
    const server = createServer(listener).listen(0, '127.0.0.1');
    server.on('checkContinue', listener);
    servers.push(server);
    await once(server, 'listening');
    return openAt((server.address() as AddressInfo).port);
  }
  const openAt = (port: number) =>
    openS3Store({
      ...{ bucket: 'any', region: 'us-east-1', endpoint: `http://127.0.0.1:${port}`, waitMs: 1_000 },
      credentials: { accessKeyId: 'any', secretAccessKey: 'any' },
    });

  test.each(faults)(
    'that %s: every call rejects with what happened, and none waits for ever',
    async (_, listener, said) => {
      const store = await openBroken(listener);
      const bytes = bytesOf(2_500_000);
      const calls = [store.put('a/b', chunksOf(bytes), bytes.length), store.get('a/b'), store.remove('a/b')];
      const doing = ['write', 'read', 'delete'];
      for (const [at, one] of (await Promise.allSettled(calls)).entries()) {
        const message = `${(one as PromiseRejectedResult).reason}`;
        expect(message).toContain(`The media store could not ${doing[at]} a/b`);
        expect(message).toMatch(said);
      }
      store.close();
    },
  );

  test('that is not there: every call rejects with what happened', async () => {
    const store = openAt(1);
    const calls = [
      store.put('a/b', chunksOf(bytesOf(10)), 10),
      store.get('a/b'),
      store.sizeOf('a/b'),
      store.remove('a/b'),
    ];
    for (const one of await Promise.allSettled(calls))
      expect(`${(one as PromiseRejectedResult).reason}`).toContain('ECONNREFUSED');
    store.close();
  });

  test('that ends within an object: its reader fails', async () => {
    const store = await openBroken((_, response) => {
      response.writeHead(200, { 'content-length': 1_000 }).write('half');
      setTimeout(() => response.destroy(), 50);
    });
    await expect(read(store, 'a/b')).rejects.toThrow();
    store.close();
  });
});

(s3Url === undefined ? describe.skip : describe)('an S3-compatible store that refuses', () => {
  test.each<[string, object, RegExp]>([
    ['a bucket that is not there', { bucket: 'no-such-bucket' }, /NoSuchBucket/],
    ['a wrong secret', { credentials: { accessKeyId: 'tests', secretAccessKey: 'wrong' } }, /SignatureDoesNotMatch/],
    [
      'an unknown key',
      { credentials: { accessKeyId: 'nobody', secretAccessKey: 'wrong' } },
      /access key id.*status 40[34]/i,
    ],
  ])('%s: the error names it', async (_, other, said) => {
    const store = openS3Store({ ...(await newBucket()), ...other });
    // It may close the connection before its answer is read.
    await expect(store.put('a/b', chunksOf(bytesOf(10)), 10)).rejects.toThrow('could not write a/b');
    for (const one of await Promise.allSettled([store.get('a/b'), store.remove('a/b')]))
      expect(`${(one as PromiseRejectedResult).reason}`).toMatch(said);
    store.close();
  });
});
