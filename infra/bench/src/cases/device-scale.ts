import { createHash } from 'node:crypto';
import { listDevices } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { createTestAuthority } from '@attribution/testing';
import { type Case, compare, type Row, rateRow, type Tools } from '../case.ts';
import type { BenchDatabase } from '../database.ts';
import type { TestAuthority } from '../devices/ingress.ts';
import { type FilledDevice, fillDevices } from '../devices/seed.ts';
import { startDevice } from '../devices/service.ts';
import { withDatabase } from '../endpoints/compare-servers.ts';
import { type BenchRequest, loadWith } from '../endpoints/requests.ts';
import { signAsIngress } from '../endpoints/settings.ts';
import { asOwner } from '../endpoints/start-service.ts';
import type { BenchServer } from '../server.ts';

const bar = 1 / 1.2;
/** Devices that are asked for in turn, spread over all. */
const asked = 1_000;
const pageSize = 50;

interface Size {
  readonly server: BenchServer;
  readonly headers: { readonly authorization: string };
  readonly devices: readonly FilledDevice[];
}

async function startWith(database: BenchDatabase, authority: TestAuthority, count: number): Promise<Size> {
  const account = newId('account');
  const devices = Array.from({ length: count }, () => {
    const id = newId('device');
    return { id, fingerprint: createHash('sha256').update(id).digest('hex') };
  });
  await fillDevices(database, account, devices);
  const step = Math.max(1, devices.length / asked);
  const some = Array.from({ length: Math.min(asked, count) }, (_, n) => devices[Math.floor(n * step)] as FilledDevice);
  const server = await startDevice(database, authority);
  return { server, headers: asOwner(account), devices: some };
}

/** The first page, and the one in the middle: as far as half of the pages go. */
async function pagesOf({ server, headers }: Size, total: number): Promise<BenchRequest[]> {
  const page = (limit: number, cursor?: string): BenchRequest => ({
    method: 'GET',
    path: `${listDevices.path}?${new URLSearchParams({ limit: `${limit}`, ...(cursor && { cursor }) })}`,
    headers,
  });
  const step = Math.min(200, total / 2);
  let cursor: string | undefined;
  for (let passed = 0; passed < total / 2; passed += step) {
    const response = await fetch(server.url + page(step, cursor).path, { headers });
    cursor = ((await response.json()) as { next_cursor: string }).next_cursor;
  }
  return [page(pageSize), page(pageSize, cursor)];
}

const lookUps = ({ devices }: Size): BenchRequest[] =>
  devices.map(({ fingerprint }) => ({
    ...{ method: 'GET', path: `/internal/v2/device-certificates/${fingerprint}` },
    headers: { authorization: `Bearer ${signAsIngress('device')}` },
  }));

const reads = ({ devices, headers }: Size): BenchRequest[] =>
  devices.map(({ id }) => ({ method: 'GET', path: `/v2/devices/${id}`, headers }));

async function rowsOf(tools: Tools, large: Size, small: Size, [many, few]: readonly [number, number]): Promise<Row[]> {
  const pages = new Map([
    [large, await pagesOf(large, many)],
    [small, await pagesOf(small, few)],
  ]);
  const rows: Row[] = [];
  for (const [what, requestsOf] of [
    [`A page of ${pageSize} devices (the first and the middle one in turn)`, (size: Size) => pages.get(size) ?? []],
    ['A device by id', reads],
    ['A certificate by fingerprint, as the ingress asks', lookUps],
  ] as const) {
    tools.say(`  ${what}`);
    const rateOf = (size: Size) => async () => (await loadWith(size.server.url, tools.seconds, requestsOf(size))).rate;
    rows.push(rateRow(`${what}: of 100,000 beside of 1,000`, await compare(tools, rateOf(large), rateOf(small)), bar));
  }
  return rows;
}

/** Both sides have the same requests: what differs is how many devices the account has. */
export const deviceScale: Case = {
  name: 'device: many devices',
  run: (tools) =>
    withDatabase(tools, 'device', (ofMany) =>
      withDatabase(tools, 'device', async (ofFew) => {
        const counts = tools.smoke ? ([40, 20] as const) : ([100_000, 1_000] as const);
        tools.say(`  filling: ${counts[0]} devices beside ${counts[1]}`);
        const authority = createTestAuthority();
        const large = await startWith(ofMany, authority, counts[0]);
        const small = await startWith(ofFew, authority, counts[1]);
        try {
          return await rowsOf(tools, large, small, counts);
        } finally {
          await Promise.all([large.server.stop(), small.server.stop()]);
        }
      }),
    ),
};
