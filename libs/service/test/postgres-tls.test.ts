import { chown, mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { migrate, missingMigrations } from '@attribution/database';
import { type PostgresServer, startPostgres } from '@attribution/servers';
import { type Certified, createTestAuthority, eventually, openBareDatabase } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';

const trusted = tls.getCACertificates('default');
const [ours, another] = [createTestAuthority(), createTestAuthority()];
let parent: string;
let directory: string;
let server: PostgresServer;

beforeAll(async () => {
  parent = await mkdtemp(join(tmpdir(), 'postgres-tls-'));
  directory = join(parent, 'migrations');
  await mkdir(join(directory, '20260101000000_first'), { recursive: true });
  await writeFile(join(directory, '20260101000000_first/migration.sql'), 'CREATE TABLE things (id int);');
  server = await startPostgres({ directory: join(parent, 'cluster'), password: 'hills', durable: false });
  await serve(ours.issueServer(['localhost']));
});
beforeEach(() => tls.setDefaultCACertificates([...trusted, ours.root]));
afterAll(async () => {
  tls.setDefaultCACertificates(trusted);
  await server.stop();
  await rm(parent, { recursive: true, force: true });
});

/** Gives the server a certificate, and waits until new connections see it. */
async function serve({ cert, key }: Certified): Promise<void> {
  const cluster = join(parent, 'cluster');
  const { uid, gid } = await stat(cluster);
  for (const [name, text] of Object.entries({ 'server.crt': cert, 'server.key': key })) {
    await writeFile(join(cluster, name), text, { mode: 0o600 });
    await chown(join(cluster, name), uid, gid);
  }
  const plain = openBareDatabase({ url: server.url('postgres') });
  try {
    await plain.pool.query("ALTER SYSTEM SET ssl = 'on'");
    const before = await loadedAt(plain);
    await plain.pool.query('SELECT pg_reload_conf()');
    await eventually(async () => {
      if ((await loadedAt(plain)) === before) throw new Error('The server has not read its settings again');
    });
  } finally {
    await plain.close();
  }
}

async function loadedAt({ pool }: ReturnType<typeof openBareDatabase>): Promise<string> {
  return (await pool.query<{ at: string }>('SELECT pg_conf_load_time()::text AS at')).rows[0]?.at ?? '';
}

/** As in production: see `REQUIRE_TLS`. */
function url(): string {
  const verified = new URL(server.url('postgres'));
  verified.hostname = 'localhost';
  verified.searchParams.set('sslmode', 'verify-full');
  return verified.href;
}

async function byPool(): Promise<{ ssl: boolean; version: string } | undefined> {
  const database = openBareDatabase({ url: url() });
  try {
    const { rows } = await database.pool.query('SELECT ssl, version FROM pg_stat_ssl WHERE pid = pg_backend_pid()');
    return rows[0];
  } finally {
    await database.close();
  }
}
const byMigrations = () => migrate({ url: url(), directory });
const byCheckOfMigrations = () => missingMigrations({ url: url(), directory });

test('the pool and the migrations reach a server over TLS that has a certificate of its name from a trusted authority', async () => {
  expect(await byPool()).toEqual({ ssl: true, version: 'TLSv1.3' });
  expect(await byMigrations()).toEqual(['20260101000000_first']);
  expect(await byCheckOfMigrations()).toEqual([]);
});

test('neither the pool nor the migrations say anything to a server that has a certificate from another authority', async () => {
  tls.setDefaultCACertificates([...trusted, another.root]);
  for (const reach of [byPool, byMigrations, byCheckOfMigrations])
    await expect(reach()).rejects.toThrow(/self-signed certificate|unable to (verify|get)/);
});

test('… nor to one that has a certificate of another name', async () => {
  await serve(ours.issueServer(['elsewhere.example']));
  for (const reach of [byPool, byMigrations, byCheckOfMigrations])
    await expect(reach()).rejects.toThrow("does not match certificate's altnames");
});

test('… nor to one that has no TLS', async () => {
  const plain = openBareDatabase({ url: server.url('postgres') });
  await plain.pool.query("ALTER SYSTEM SET ssl = 'off'");
  await plain.pool.query('SELECT pg_reload_conf()');
  await plain.close();
  await eventually(() => expect(byPool()).rejects.toThrow('does not support SSL'));
  for (const reach of [byMigrations, byCheckOfMigrations])
    await expect(reach()).rejects.toThrow('does not support SSL');
});
