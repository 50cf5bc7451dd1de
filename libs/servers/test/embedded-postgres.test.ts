import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { type PostgresServer, startPostgres } from '../src/index.ts';

const password = 'pass/word@1#ü %';

let folder: string;
let directory: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'embedded-'));
  directory = join(folder, 'postgres');
});
afterAll(() => rm(folder, { recursive: true }));

const start = (more: { password?: string; port?: number; say?: (line: string) => void } = {}) =>
  startPostgres({ directory, password, durable: false, ...more });

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client
    .query(sql)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}

const keptRows = (server: PostgresServer) => query(server.url('things'), 'SELECT n FROM kept');

test('a new cluster serves its databases by their URLs, only with the password; 20 callers can create one database concurrently', async () => {
  const said: string[] = [];
  const server = await start({ say: (line) => said.push(line) });
  try {
    expect(said).toEqual(['Creating the database cluster…']);
    await Promise.all(Array.from({ length: 20 }, () => server.createDatabase('things')));
    await query(server.url('things'), 'CREATE TABLE kept (n int); INSERT INTO kept VALUES (42)');
    await server.createDatabase('copy', { template: 'things' });
    expect(await query(server.url('copy'), 'SELECT n FROM kept')).toEqual([{ n: 42 }]);
    const wrong = new URL(server.url('things'));
    wrong.password = 'another';
    await expect(query(wrong.href, 'SELECT 1')).rejects.toMatchObject({ code: '28P01' });
    expect((await stat(`${directory}.log`)).mode & 0o777).toBe(0o600);
  } finally {
    await server.stop();
  }
  await server.stop();
  await expect(query(server.url('things'), 'SELECT 1')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
});

test('a second start keeps the data, whatever process the pid file of a dead server names', async () => {
  const other = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)']);
  await writeFile(join(directory, 'postmaster.pid'), `${other.pid}\n${directory}\n`);
  const said: string[] = [];
  const server = await start({ say: (line) => said.push(line) });
  try {
    expect(said).toEqual([]);
    expect(await keptRows(server)).toEqual([{ n: 42 }]);
    expect(other.exitCode ?? other.signalCode).toBeNull();
  } finally {
    other.kill();
    await server.stop();
  }
});

test('a server that an earlier run left behind is stopped, and the data kept', async () => {
  const left = await start();
  const said: string[] = [];
  const server = await start({ say: (line) => said.push(line) });
  try {
    expect(said).toEqual(['Stopping the database server that an earlier run left behind…']);
    expect(await keptRows(server)).toEqual([{ n: 42 }]);
    if (left.port !== server.port) await expect(keptRows(left)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  } finally {
    await server.stop();
    await left.stop();
  }
});

test('a wrong password is reported at once, not retried', async () => {
  await expect(start({ password: 'another' })).rejects.toThrow(
    `The PostgreSQL cluster ${directory} was created with another password.`,
  );
});

test('a port in use is named in the error', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  await expect(start({ port })).rejects.toThrow(`Port ${port} of 127.0.0.1, meant for PostgreSQL, is taken.`);
  other.close();
});

test('a folder with other content is refused and not changed', async () => {
  const other = join(folder, 'other');
  await mkdir(other);
  await writeFile(join(other, 'diary.txt'), 'Dear diary');
  await expect(startPostgres({ directory: other, password })).rejects.toThrow(
    `${other} is neither empty nor a PostgreSQL cluster.`,
  );
  expect(await readdir(other)).toEqual(['diary.txt']);
});
