import { createHash } from 'node:crypto';
import {
  type DeviceManifest,
  getDevice,
  getOwnManifest,
  ManifestContent,
  manifestChanged,
  sendHeartbeat,
} from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { noManifest } from '../src/manifest/none.ts';
import { newTenant, startDevice } from './support.ts';
import { type Campaign, startCampaign } from './support-campaign.ts';

let service: TestService;
let campaign: Campaign;
beforeAll(async () => {
  campaign = await startCampaign();
  service = await startDevice({ CAMPAIGN_URL: campaign.url });
});
afterAll(async () => {
  await service.stop();
  campaign.stop();
});

/** Campaign is away while the work is done. */
async function withoutCampaign(work: () => Promise<void>): Promise<void> {
  campaign.away = true;
  try {
    await work();
  } finally {
    campaign.away = false;
  }
}

/** A device, and the manifests that Campaign makes for it. */
async function newPlayer() {
  const tenant = newTenant(service);
  const active = await tenant.active();
  const { id, client } = active;
  return {
    ...active,
    account: tenant.account,
    ask: (known_version?: number) => client.call(getOwnManifest, { query: { known_version } }),
    shown: async () => (await tenant.owner.call(getDevice, { params: active.params })).body.manifest,
    made(version: number): DeviceManifest {
      const file = { url: 'https://media.example/a?signed', url_expires_at: '2099-01-01T00:00:00.000Z' };
      const files = [{ sha256: 'a'.repeat(64), size_bytes: 7, mime: 'image/png', ...file }];
      const manifest = { ...noManifest(id, service.clock.now()), files, version };
      campaign.manifests.set(id, manifest);
      return manifest;
    },
  };
}

test('200: a device gets what Campaign makes, as it is, each time anew; 204 while it has the version; 400 for a version that is none', async () => {
  const { id, account, client, ask, shown, made } = await newPlayer();
  const manifest = made(3);
  const given = await ask(2);
  expect([given.status, given.headers.get('etag'), given.body]).toEqual([200, '"3"', manifest]);
  expect(campaign.asked.at(-1)).toBe(`device /internal/v2/manifests/${id} for ${account}`);
  const [known, tagged] = await Promise.all([
    ask(3),
    client.call(getOwnManifest, { headers: { 'if-none-match': 'W/"1", "3"' } }),
  ]);
  expect([known.status, known.headers.get('etag'), tagged.status]).toEqual([204, '"3"', 204]);
  const next = made(4);
  expect((await ask(3)).body).toEqual(next);
  expect(await shown()).toEqual({ version: 4, delivered_version: 4, applied_version: null });
  expect((await ask(-1)).status).toBe(400);
});

test('200: a device that Campaign does not know has a manifest of nothing', async () => {
  const { id, ask, shown } = await newPlayer();
  const { body } = await ask();
  expect(body).toMatchObject({ device_id: id, version: 0, screens: [], files: [] });
  expect((await ask(0)).status).toBe(204);
  expect(await shown()).toMatchObject({ version: 0, delivered_version: 0 });
});

test('what an installation of another account names is nothing to a device, nor to its heartbeats', async () => {
  const { id, client, ask, made } = await newPlayer();
  const other = newTenant(service);
  const { location_id } = await other.install(id);
  campaign.manifests.set(id, { ...made(7), location_id });
  const changed = { device_id: id, account_id: other.account, version: 7, hash: 'a'.repeat(64) };
  await service.deliver(manifestChanged, changed, other.account);
  const { body } = await ask();
  expect(body).toMatchObject({ version: 0, location_id: null, files: [] });
  expect((await client.call(sendHeartbeat, { body: {} })).body.manifest_version).toBe(0);
});

test('503: while Campaign is away, a device without a manifest is told to come again; 200 and 204 by the one given last', async () => {
  const { ask, made } = await newPlayer();
  await withoutCampaign(async () => {
    const refused = await ask();
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
  });
  const manifest = made(1);
  await ask();
  await withoutCampaign(async () => {
    const again = await ask();
    expect([again.status, again.body]).toEqual([200, manifest]);
    expect((await ask(1)).status).toBe(204);
  });
});

test('a heartbeat tells the newest version that Campaign has told, before the device has asked for it', async () => {
  const { id, account, client, ask, shown, made } = await newPlayer();
  const tell = (version: number) =>
    service.deliver(manifestChanged, { device_id: id, account_id: account, version, hash: 'a'.repeat(64) }, account);
  const beat = async () => (await client.call(sendHeartbeat, { body: {} })).body.manifest_version;
  expect(await beat()).toBe(0);
  await tell(1);
  expect(await beat()).toBe(1);
  made(1);
  await ask();
  await tell(3);
  await tell(2);
  expect(await beat()).toBe(3);
  // The manifest that is given while Campaign is away is not the current one.
  await withoutCampaign(async () => {
    expect((await ask()).body).toMatchObject({ version: 1 });
  });
  expect(await beat()).toBe(3);
  expect(await shown()).toMatchObject({ version: 3, delivered_version: 1 });
});

test('a manifest of nothing covers today and two more days, and has the hash of its content', () => {
  const manifest = noManifest('dev_01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f', new Date('2027-03-01T10:00:00Z'));
  expect(manifest).toMatchObject({
    version: 0,
    covers_from: '2027-03-01T00:00:00.000Z',
    covers_to: '2027-03-04T00:00:00.000Z',
    screens: [],
    location_id: null,
  });
  const content = Object.entries(ManifestContent.parse(manifest)).toSorted(([one], [other]) => (one < other ? -1 : 1));
  const hash = createHash('sha256')
    .update(JSON.stringify(Object.fromEntries(content)))
    .digest('hex');
  expect(manifest.hash).toBe(hash);
});
