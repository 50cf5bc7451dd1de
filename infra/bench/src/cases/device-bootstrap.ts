import { createHash, randomBytes } from 'node:crypto';
import { newId } from '@attribution/ids';
import { makeCsr, signBody } from '@attribution/simulator';
import { createTestAuthority } from '@attribution/testing';
import { Pool } from 'undici';
import { type Case, compare, type Row, rateRow, type Tools } from '../case.ts';
import type { BenchDatabase } from '../database.ts';
import { newPair, publicPem } from '../devices/factory-keys.ts';
import { fillDevices, serialOf } from '../devices/seed.ts';
import { startDevice } from '../devices/service.ts';
import { withDatabase } from '../endpoints/compare-servers.ts';
import { startServer } from '../server.ts';

const bar = 0.5;
const atOnce = 32;
const devicesOf = ({ smoke }: Tools) => (smoke ? 4 : 256);
/** Bootstraps of one run, which takes somewhat longer than `seconds`. */
const timesOf = ({ smoke, seconds }: Tools) => (smoke ? 4 : Math.ceil(2_000 * seconds));

interface Signed {
  readonly body: string;
  readonly signature: string;
  /** The address of the device, as the ingress names it: each device has its own, and so its own turns. */
  readonly ip: string;
}

/** Gives each device a nonce in turn, and signs what the device sends with it. */
async function prepare(
  database: BenchDatabase,
  ids: readonly string[],
  pair: ReturnType<typeof newPair>,
  csr: string,
  times: number,
): Promise<Signed[]> {
  await database.sql('TRUNCATE device_nonces, outbox');
  const wanted = Array.from({ length: times }, (_, n) => ({
    device: ids[n % ids.length] ?? '',
    nonce: randomBytes(32).toString('base64url'),
  }));
  await database.sql(
    `INSERT INTO device_nonces (nonce, device_id, expires_at)
     SELECT nonce, device, now() + interval '5 min' FROM jsonb_to_recordset($1) AS wanted(device text, nonce text)`,
    [JSON.stringify(wanted)],
  );
  return wanted.map(({ device, nonce }, n) => {
    const body = JSON.stringify({ serial: serialOf(device), nonce, timestamp: new Date().toISOString(), csr });
    return { body, signature: signBody(pair.privateKey, body), ip: `10.0.${(n >> 8) % 256}.${n % 256}` };
  });
}

/** Bootstraps per second. */
async function sendAll(pool: Pool, requests: readonly Signed[]): Promise<number> {
  const waiting = requests.values();
  const began = performance.now();
  async function sendSome(): Promise<void> {
    for (const { body, signature, ip } of waiting) {
      const headers = { 'content-type': 'application/json', 'x-device-signature': signature, 'x-forwarded-for': ip };
      const answer = await pool.request({ path: '/v2/device/bootstrap', method: 'POST', headers, body });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${text}`);
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sendSome));
  return requests.length / ((performance.now() - began) / 1_000);
}

async function rowsOf(tools: Tools, database: BenchDatabase, ours: Pool, kind: 'rsa' | 'p-256'): Promise<Row[]> {
  const pair = newPair(kind);
  const ids = Array.from({ length: devicesOf(tools) }, () => newId('device'));
  const devices = ids.map((id) => ({ id, fingerprint: createHash('sha256').update(id).digest('hex') }));
  await fillDevices(database, newId('account'), devices, { publicKey: publicPem(pair) });
  const csr = makeCsr(newPair(kind).privateKey, 'a device');
  const sendTo = (pool: Pool) => async () => sendAll(pool, await prepare(database, ids, pair, csr, timesOf(tools)));
  const what = `Bootstraps of devices with ${kind === 'rsa' ? 'RSA keys of 2,048 bits' : 'P-256 keys'}, ${atOnce} at once`;
  const native = await startServer(new URL('../devices/native.server.ts', import.meta.url), { KIND: kind });
  const bare = await startServer(new URL('../devices/bare-bootstrap.server.ts', import.meta.url), {
    DATABASE_URL: database.url,
  });
  const bares = new Pool(bare.url, { connections: atOnce });
  try {
    const besideNative = await compare(tools, sendTo(ours), async () => {
      const answer = await fetch(`${native.url}/?seconds=${tools.seconds}`);
      return ((await answer.json()) as { rate: number }).rate;
    });
    const besideBare = await compare(tools, sendTo(ours), sendTo(bares));
    return [
      rateRow(`${what}, beside node:crypto alone: two signatures checked and a certificate signed`, besideNative, bar),
      rateRow('… beside a bare handler that does the same, with a prepared read and a prepared write', besideBare),
    ];
  } finally {
    await bares.destroy();
    await Promise.all([native.stop(), bare.stop()]);
  }
}

/** Asked of the Device service itself: the ingress lets an address try 300 times a minute. */
export const deviceBootstrap: Case = {
  name: 'device: bootstrap',
  run: (tools) =>
    withDatabase(tools, 'device', async (database) => {
      const server = await startDevice(database, createTestAuthority());
      const pool = new Pool(server.url, { connections: atOnce });
      try {
        const rows: Row[] = [];
        for (const kind of ['rsa', 'p-256'] as const) {
          tools.say(`  ${kind}`);
          rows.push(...(await rowsOf(tools, database, pool, kind)));
        }
        return rows;
      } finally {
        await pool.destroy();
        await server.stop();
      }
    }),
};
