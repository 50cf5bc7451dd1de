import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { claimDevice, getDevice } from '@attribution/contracts';
import { type ClientIdentity, openFileStore, openWire } from '@attribution/simulator';
import { eventually } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startTcpProxy, type TcpProxy, type Way } from '../faults/tcp-proxy.ts';
import { plainPicture } from '../upload.ts';
import { newOwner, startTestPlatform, type TestPlatform } from './support.ts';
import { publishPicture } from './support-campaign.ts';
import { installDevice, type Made, madeDevices, switchOn } from './support-devices.ts';
import { rowsOf } from './support-platform.ts';

/** What can be taken away from devices: services, as the ingress reaches them, and the database of Device. */
const lines: TcpProxy[] = [];
async function lineTo(url: string) {
  const { hostname, port } = new URL(url);
  const line = await startTcpProxy({ host: hostname, port: Number(port) });
  lines.push(line);
  const through = new URL(url);
  through.port = String(line.port);
  return { line, url: through.href.replace(/\/$/, '') };
}

let platform: TestPlatform;
let postgres: TcpProxy;
let device: TcpProxy;
let events: TcpProxy;
let ingress: Awaited<ReturnType<TestPlatform['startIngress']>>;
let folder: string;
const running: ReturnType<typeof switchOn>[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'device-files-'));
  platform = await startTestPlatform({}, ':memory:', async (service, url) => {
    if (service !== 'device') return url;
    const through = await lineTo(url);
    postgres = through.line;
    return through.url;
  });
  const [toDevice, toEvents] = [
    await lineTo(platform.serviceUrls.DEVICE_URL ?? ''),
    await lineTo(platform.serviceUrls.EVENTS_URL ?? ''),
  ];
  [device, events] = [toDevice.line, toEvents.line];
  const addresses = { DEVICE_URL: toDevice.url, EVENTS_URL: toEvents.url };
  ingress = await platform.startIngress({ ...addresses, UPSTREAM_TIMEOUT_MS: '2000' });
});
afterAll(async () => {
  await Promise.all(running.map(({ off }) => off()));
  await ingress.stop();
  await platform.stop();
  await Promise.all(lines.map((line) => line.stop()));
  await rm(folder, { recursive: true, force: true });
});

/** A device that plays a campaign, and reports what it plays. */
async function playing() {
  const { client } = await newOwner(platform);
  const [made] = (await madeDevices(platform)) as [Made];
  const { id } = (await client.call(claimDevice, { body: { claim_code: made.labelCode } })).body;
  const place = await installDevice(client, id);
  await publishPicture(client, plainPicture(place.width_px, place.height_px), { group: place.group, tag: 'window' });
  const backoff = { firstMs: 50, longestMs: 200 };
  const player = switchOn(ingress, made.flash, await openFileStore(folder), { backoff });
  running.push(player);
  await player.first('sent');
  const credential = (await made.flash.read())?.credential as ClientIdentity;
  return { ...player, client, id, credential };
}

test('with Device, its database and Events away devices play on, are told when to come again, and nothing acknowledged is lost', async () => {
  const player = await playing();
  /** Each request has a connection of its own, so that none waits for another. */
  const send = async (method: 'GET' | 'POST' | 'PUT', path: string, body?: object) => {
    const wire = openWire({ ...ingress.devices, identity: player.credential, timeoutMs: 30_000 });
    return wire.send(method, `/v2/device/${path}`, body && JSON.stringify(body)).finally(wire.close);
  };
  const report = (version: number) => ({ reported: { version }, reported_version: version, applied_version: 0 });
  const put = (version: number) => send('PUT', 'config/reported', report(version));
  const untilKept = (version: number) => eventually(async () => expect((await put(version)).status).toBe(200));
  await untilKept(0);
  const contact = { serial: 'PLAYER-0001', timestamp: new Date().toISOString() };
  const count = (kind: string) => player.told.filter(({ event }) => event === kind).length;

  async function withoutThem(away: readonly TcpProxy[], way: Way): Promise<void> {
    const [plays, troubles] = [count('play'), count('trouble')];
    await Promise.all(away.map((line) => line.set(way)));
    const refused = await Promise.all([
      put(1),
      send('GET', 'config'),
      send('POST', 'heartbeat', {}),
      send('POST', 'challenges', contact),
    ]);
    for (const { status, headers, body } of refused) {
      expect([502, 503]).toContain(status);
      expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
      expect(JSON.parse(body.toString())).toMatchObject({ status });
    }
    await eventually(() => {
      expect(count('play')).toBeGreaterThanOrEqual(plays + 2);
      expect(count('trouble')).toBeGreaterThan(troubles);
    });
    await Promise.all(away.map((line) => line.set('pass')));
    await eventually(async () => expect((await send('GET', 'config')).status).toBe(200));
  }
  await withoutThem([postgres, events], 'refuse');
  await withoutThem([device], 'hang');

  // A report that was not answered was kept or not. Sent again as it was it is answered as if it were the first time.
  await untilKept(1);
  expect((await player.client.call(getDevice, { params: { id: player.id } })).body).toMatchObject({
    status: 'active',
    reported_version: 2,
    config: { reported: { version: 1 } },
  });
  const sentBefore = count('sent');
  await eventually(() => expect(count('sent')).toBeGreaterThan(sentBefore));
  await player.off();
  expect(player.told.filter(({ event }) => event === 'certificate')).toHaveLength(1);
  const acknowledged = player.told.reduce((sum, told) => sum + (told.event === 'sent' ? told.plays : 0), 0);
  const kept = await rowsOf<{ plays: number }>(
    platform.databaseUrl('events'),
    `SELECT count(*)::int AS plays FROM plays WHERE device_id = '${player.id}'`,
  );
  expect(kept[0]?.plays).toBeGreaterThanOrEqual(acknowledged);
  expect(acknowledged).toBeGreaterThan(4);
});
