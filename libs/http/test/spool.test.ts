import { spawn } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from '@jest/globals';
import { openSpool, type Spool } from '../src/index.ts';

let opened: Spool[] = [];
afterEach(async () => {
  for (const spool of opened) await spool.close();
  opened = [];
});

async function open(): Promise<Spool> {
  const spool = await openSpool();
  opened.push(spool);
  return spool;
}

async function contentOf(spool: Spool): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of spool.read()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');
const spoolsIn = async (folder: string) => (await readdir(folder)).filter((name) => name.startsWith('spool-'));

test('the content can be read repeatedly from its start, and by several readers at once', async () => {
  const spool = await open();
  const pieces = Array.from({ length: 300 }, (_, n) => randomBytes((n * 7919) % 3000));
  for (const piece of pieces) await spool.write(piece);
  const whole = Buffer.concat(pieces);
  expect([spool.bytes, spool.digest]).toEqual([whole.length, sha256(whole)]);
  const atOnce = await Promise.all([contentOf(spool), contentOf(spool)]);
  for (const content of [...atOnce, await contentOf(spool)]) expect(content.equals(whole)).toBe(true);
});

test('text is written as UTF-8, and its size is in bytes', async () => {
  const spool = await open();
  await spool.write('é🏬');
  await spool.write('\n');
  expect((await contentOf(spool)).toString()).toBe('é🏬\n');
  expect([spool.bytes, spool.digest]).toEqual([7, sha256('é🏬\n')]);
});

test('content that is written after a read is in the next read', async () => {
  const spool = await open();
  await spool.write('one,');
  expect((await contentOf(spool)).toString()).toBe('one,');
  const first = spool.digest;
  await spool.write('two');
  expect((await contentOf(spool)).toString()).toBe('one,two');
  expect([first, spool.digest]).toEqual([sha256('one,'), sha256('one,two')]);
});

test('what is written while others read is not lost, and nothing is there twice', async () => {
  const spool = await open();
  const pieces = Array.from({ length: 400 }, (_, n) => randomBytes((n * 7919) % (n % 50 === 0 ? 200_000 : 3000)));
  const whole = Buffer.concat(pieces);
  const reads: Promise<void>[] = [];
  for (const piece of pieces) {
    const written = spool.write(piece);
    reads.push(contentOf(spool).then((seen) => expect(seen.equals(whole.subarray(0, seen.length))).toBe(true)));
    await written;
  }
  await Promise.all(reads);
  expect((await contentOf(spool)).equals(whole)).toBe(true);
});

test('a reader may give the buffer into which all chunks are read', async () => {
  const spool = await open();
  const whole = randomBytes(250_000);
  await spool.write(whole);
  const buffer = Buffer.alloc(100_000);
  const lengths: number[] = [];
  const copies: Buffer[] = [];
  for await (const chunk of spool.read(buffer)) {
    expect(chunk.buffer).toBe(buffer.buffer);
    lengths.push(chunk.length);
    copies.push(Buffer.from(chunk));
  }
  expect(lengths).toEqual([100_000, 100_000, 50_000]);
  expect(Buffer.concat(copies).equals(whole)).toBe(true);
});

test('a new spool is empty', async () => {
  const spool = await open();
  expect(await contentOf(spool)).toHaveLength(0);
  expect([spool.bytes, spool.digest]).toEqual([0, sha256('')]);
});

test('a spool can be closed twice, and not be read afterwards', async () => {
  const spool = await open();
  await spool.write('x');
  await spool.close();
  await spool.close();
  await expect(contentOf(spool)).rejects.toThrow();
});

test('an open spool has no name in the file system', async () => {
  const before = await spoolsIn(tmpdir());
  const spool = await open();
  await spool.write(randomBytes(200_000));
  expect(await spoolsIn(tmpdir())).toEqual(before);
  expect(await contentOf(spool)).toHaveLength(200_000);
});

test('a process that is killed while it writes leaves no file', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'killed-'));
  const path = JSON.stringify(fileURLToPath(new URL('../src/spool.ts', import.meta.url)));
  const script = `import { openSpool } from ${path}; const spool = await openSpool();
    for (let n = 0; ; n++) { await spool.write(Buffer.alloc(100_000)); if (n === 10) console.log('writing'); }`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  child.kill('SIGKILL');
  await once(child, 'exit');
  expect(await readdir(folder)).toEqual([]);
  await rm(folder, { recursive: true });
});

test('memory stays constant, whatever the size', async () => {
  const spool = await open();
  const piece = randomBytes(1_000_000);
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const look = () => (most = Math.max(most, process.memoryUsage().arrayBuffers - before));
  for (let n = 0; n < 200; n++) {
    await spool.write(piece);
    look();
  }
  let read = 0;
  for await (const chunk of spool.read()) {
    read += chunk.length;
    look();
  }
  // Unreferenced buffers are collected at about 64 MiB.
  expect(read).toBe(200_000_000);
  expect(most).toBeLessThan(100_000_000);
});
