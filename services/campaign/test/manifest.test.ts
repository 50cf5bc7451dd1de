import {
  archiveCampaign,
  getDeviceManifest,
  manifestChanged,
  publishCampaign,
  reviseCampaign,
  updateCampaign,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, internalToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { buildManifest } from '../src/manifests/build-manifest.ts';
import { manifestHash } from '../src/manifests/manifest-hash.ts';
import { startCampaign } from './support.ts';
import { newInstallation } from './support-estate.ts';
import { newStudio } from './support-studio.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

const ask = (device_id: string, account_id?: string) =>
  service.client
    .with({ token: internalToken('device', 'campaign') })
    .call(getDeviceManifest, { params: { device_id }, query: { account_id } });

/** A studio with a draft for one screen, which is wired to a device. */
async function wiredStudio() {
  const studio = await newStudio(service);
  const { screens, location, ...planned } = await studio.planned(1);
  const installation = newInstallation(location, screens);
  await studio.announce.installation(installation);
  const [screen] = screens;
  return {
    ...studio,
    ...planned,
    screen: screen as NonNullable<typeof screen>,
    location,
    installation,
    device: installation.device_id,
  };
}

test('404: a device that no installation has ever named; 200 for one whose installation is gone', async () => {
  expect((await ask(newId('device'))).problem).toMatchObject({ kind: 'not-found' });
  const { device, installation, announce } = await wiredStudio();
  await announce.installationGone(installation.id);
  expect((await ask(device)).body).toMatchObject({
    ...{ schema_version: 1, device_id: device, location_id: null, timezone: null },
    ...{ files: [], items: [], screens: [], holdouts: [] },
  });
});

test('200: an account that names a device of another one in an installation changes nothing for it', async () => {
  const { device, account, location } = await wiredStudio();
  const own = (await ask(device, account)).body;
  expect(own).toMatchObject({ location_id: location.id, version: 1 });
  const other = await newStudio(service);
  const { screens, location: there } = await other.planned(1);
  await other.announce.installation({ ...newInstallation(there, screens), device_id: device });
  expect((await ask(device, account)).body).toMatchObject({ location_id: location.id, version: 1, hash: own.hash });
  expect((await ask(device)).body).toMatchObject({ location_id: location.id, version: 1 });
});

test('200: whose a device is counts from when it is told, also for what it was given before', async () => {
  const { device, location } = await wiredStudio();
  const other = await newStudio(service);
  expect((await ask(device)).body).toMatchObject({ location_id: location.id, version: 1 });
  expect((await ask(device, other.account)).body).toMatchObject({ location_id: null, version: 2, screens: [] });
});

test('503: while the estate is being read', async () => {
  const setRead = (at: string) =>
    service.db.query(`UPDATE projection_snapshots SET completed_at = ${at} WHERE name = 'estate'`);
  const { device } = await wiredStudio();
  await setRead('NULL');
  for (const one of [device, newId('device')]) expect((await ask(one)).problem?.kind).toBe('unavailable');
  await setRead('now()');
});

test('200: what is published plays at once, by the version that is live, from a file with its checksum', async () => {
  const { owner, params, campaignAd, device, screen, location } = await wiredStudio();
  const before = (await ask(device)).body;
  expect(before.screens).toEqual([
    { screen_id: screen.id, output: 'HDMI-1', width_px: 1920, height_px: 1080, slots: [] },
  ]);
  await owner.call(publishCampaign, { params });
  const { body } = await ask(device);
  expect([body.location_id, body.timezone, body.version]).toEqual([location.id, 'Europe/Zurich', before.version + 1]);
  expect(body.screens[0]?.slots).toEqual([{ start_at: null, end_at: null, campaign_ad_ids: [campaignAd.id] }]);
  const [item, file] = [body.items[0], body.files[0]];
  expect(item).toMatchObject({
    campaign_id: params.id,
    version: 1,
    sha256: file?.sha256,
    not_before: null,
    not_after: null,
  });
  expect([file?.size_bytes, file?.mime, file?.url_expires_at]).toEqual([48_213, 'image/png', body.covers_to]);
  expect(file?.url).toMatch(/^https?:/);

  const again = (await ask(device)).body;
  expect({ ...again, generated_at: '' }).toEqual({ ...body, generated_at: '' });
  await owner.call(reviseCampaign, { params });
  expect((await ask(device)).body.version).toBe(body.version);
  await owner.call(updateCampaign, { params, body: { end_date: '2199-12-31' } });
  await owner.call(publishCampaign, { params });
  expect((await ask(device)).body.items[0]).toMatchObject({ version: 2, not_after: '2199-12-31T23:00:00.000Z' });
  await owner.call(archiveCampaign, { params });
  const ended = (await ask(device)).body;
  expect({ ...ended, version: 0, generated_at: '' }).toEqual({ ...before, version: 0, generated_at: '' });
  const changes = () => service.published.filter(({ type, key }) => type === manifestChanged.type && key === device);
  await eventually(() => expect(changes().at(-1)?.data.version).toBe(ended.version));
  expect(changes().map(({ data }) => data.version)).toEqual(changes().map((_, n) => n + 1));
});

test('the hash is over the manifest without version, addresses and the instants that pass', async () => {
  const { owner, params, device } = await wiredStudio();
  await owner.call(publishCampaign, { params });
  const {
    version: _,
    hash,
    generated_at: __,
    covers_from: ___,
    covers_to: ____,
    ...content
  } = (await ask(device)).body;
  const files = content.files.map(({ sha256, size_bytes, mime }) => ({ sha256, size_bytes, mime }));
  expect(manifestHash({ ...content, files } satisfies ReturnType<typeof buildManifest>['content'])).toBe(hash);
});

test('of many requests at once after a change, all have the same version, and one announces it', async () => {
  const { owner, params, device } = await wiredStudio();
  const { version } = (await ask(device)).body;
  await owner.call(publishCampaign, { params });
  const answers = await Promise.all(Array.from({ length: 12 }, () => ask(device)));
  expect(new Set(answers.map(({ body }) => `${body.version} ${body.hash}`)).size).toBe(1);
  expect(answers[0]?.body.version).toBe(version + 1);
});

test('503: a device that waits too long for its turn, while the database holds others up, is told when to ask again', async () => {
  const devices = [await wiredStudio(), await wiredStudio(), await wiredStudio()].map(({ device }) => device);
  const client = await service.db.connect();
  await client.query('BEGIN; LOCK TABLE device_manifests IN ACCESS EXCLUSIVE MODE');
  const answers = devices.map((device) => ask(device));
  const refused = await Promise.race(answers);
  expect(refused.problem).toMatchObject({ kind: 'unavailable', detail: expect.stringContaining('Many devices ask') });
  expect(refused.headers.get('retry-after')).toBe('5');
  await client.query('ROLLBACK');
  client.release();
  await Promise.all(answers);
  for (const device of devices) expect((await ask(device)).status).toBe(200);
});
