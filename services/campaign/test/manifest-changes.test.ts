import { type Envelope, manifestChanged } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { createOutbox } from '@attribution/messaging';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { refreshManifests } from '../src/manifests/refresh.ts';
import { type CampaignDatabase, openCampaignDatabase } from '../src/store.ts';
import { startCampaign } from './support.ts';
import { announce, newInstallation, newLocation, newScreen } from './support-estate.ts';
import { writeArchived, writePublished } from './support-published.ts';

let service: TestService;
let database: CampaignDatabase;
beforeAll(async () => {
  service = await startCampaign();
  database = openCampaignDatabase({ url: String(service.db.options.connectionString), poolSize: 12 });
});
afterAll(async () => {
  await database.close();
  await service.stop();
});

/** A device with one screen at a location of its own. */
async function wired(timezone = 'Europe/Zurich') {
  const [account, location] = [newId('account'), newLocation({ timezone })];
  const screen = newScreen(location);
  const installation = newInstallation(location, [screen]);
  const estate = announce(service, account);
  await estate.location(location);
  await estate.screen(screen);
  await estate.installation(installation);
  const device = installation.device_id;
  await announced(device, 1);
  return { account, location, screen, installation, device, estate };
}

const changesOf = (device: string) =>
  service.published.filter((one: Envelope) => one.type === manifestChanged.type && one.key === device);
const versionsOf = (device: string) => changesOf(device).map(({ data }) => data.version);

/** Waits until that many versions were announced. */
const announced = (device: string, count: number) =>
  eventually(() => expect(versionsOf(device)).toEqual(Array.from({ length: count }, (_, n) => n + 1)));

test('each cause is announced as one more version, whether anybody asks or not, and what changes nothing is not', async () => {
  const { account, location, screen, installation, device, estate } = await wired();
  const { campaign } = await writePublished(service, account, [screen]);
  await announced(device, 2);
  await estate.screen({ ...screen, name: 'Renamed', tags: ['entrance', 'other'] });
  await estate.location({ ...location, name: 'Renamed', group_id: newId('group') });
  await writePublished(service, account, [newScreen(location)]);
  await estate.screen({ ...screen, height_px: 100 });
  await announced(device, 3);
  await estate.location({ ...location, timezone: 'UTC' });
  await announced(device, 4);
  await writeArchived(service, campaign);
  await announced(device, 5);
  await estate.installation({ ...installation, status: 'removed' });
  await announced(device, 6);
  await estate.installationGone(installation.id);
  const { data, account_id } = changesOf(device)[0] as Envelope;
  expect([account_id, data]).toEqual([
    account,
    { device_id: device, account_id: account, version: 1, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
  expect(new Set(changesOf(device).map((one) => one.data.hash)).size).toBe(6);
});

test('a placement that a change of the estate opened or closed is announced to its device alone', async () => {
  const [one, other] = await Promise.all([wired(), wired()]);
  const { campaign, ad } = await writePublished(service, one.account, []);
  const placed = [one.account, campaign, ad, one.screen.id, one.location.id, service.clock.now().getTime() + 5];
  await service.db.query(
    `INSERT INTO placements (account_id, campaign_id, campaign_ad_id, ad_id, screen_id, location_id, screen_tag, version, valid_from)
     VALUES ($1, $2, $3, 'ad', $4, $5, 'entrance', 1, to_timestamp($6 / 1000.0))`,
    placed,
  );
  await announced(one.device, 2);
  await service.db.query(
    `UPDATE placements SET valid_to = valid_from + interval '1 s', closed_by = 'estate' WHERE campaign_id = $1`,
    [campaign],
  );
  await announced(one.device, 3);
  expect(versionsOf(other.device)).toEqual([1]);
});

test('what time alone changes, such as hours held out, is announced after the local midnight', async () => {
  const [east, west] = await Promise.all([wired('Asia/Kathmandu'), wired('America/Santiago')]);
  for (const { account, screen } of [east, west])
    await writePublished(service, account, [screen], { holdout_percent: 50 });
  await Promise.all([announced(east.device, 2), announced(west.device, 2)]);
  const { rows } = await service.db.query('SELECT changes_at FROM device_manifests WHERE device_id = ANY($1)', [
    [east.device, west.device],
  ]);
  const later = rows.map(({ changes_at }) => (changes_at as Date).getTime()).sort((a, b) => a - b);
  service.clock.advance({ seconds: Math.ceil(((later.at(-1) ?? 0) - service.clock.now().getTime()) / 1000) + 1 });
  await Promise.all([announced(east.device, 3), announced(west.device, 3)]);
});

test('what somebody changes is announced before the rest of what a midnight has changed', async () => {
  const { screen, device } = await wired();
  const due = Array.from({ length: 2_000 }, () => newId('device'));
  await service.db.query(
    'INSERT INTO known_devices (id, account_id, named_at) SELECT id, $2, now() FROM unnest($1::text[]) AS id',
    [due, newId('account')],
  );
  const count = async (query: string) => (await service.db.query(query)).rows.length;
  await eventually(async () => expect(await count('SELECT FROM changed_devices')).toBe(0));
  await service.db.query(
    `INSERT INTO device_manifests (device_id, version, hash, changes_at)
     SELECT id, 1, 'yesterday', '2000-01-01' FROM unnest($1::text[]) AS id
     ON CONFLICT (device_id) DO UPDATE SET hash = 'yesterday', changes_at = '2000-01-01'`,
    [due],
  );
  const left = () => count(`SELECT FROM device_manifests WHERE hash = 'yesterday'`);
  await eventually(async () => expect(await left()).toBeLessThan(due.length));
  await service.db.query('UPDATE known_screens SET height_px = 100 WHERE id = $1', [screen.id]);
  await service.db.query('INSERT INTO changed_devices (device_id) VALUES ($1)', [device]);
  await announced(device, 2);
  await eventually(async () => expect(await left()).toBe(0));
  const isDue = new Set(due);
  const told = () => service.published.filter((one: Envelope) => isDue.has(one.key)).length;
  await eventually(async () => expect(await count('SELECT FROM outbox')).toBe(0));
  expect(told()).toBeGreaterThanOrEqual(due.length);
  const lastDue = service.published.findLastIndex((one: Envelope) => isDue.has(one.key));
  expect(service.published.indexOf(changesOf(device)[1] as Envelope)).toBeLessThan(lastDue);
});

test('of many that make the same manifest at once, one gives it its version', async () => {
  const { account, screen, device } = await wired();
  await service.db.query(`UPDATE projection_snapshots SET completed_at = NULL WHERE name = 'estate'`); // The job rests.
  const clock = service.clock;
  const outbox = createOutbox(() => {});
  for (const version of [2, 3]) {
    await writePublished(service, account, [screen], { priority: version });
    const made = await Promise.all(
      Array.from({ length: 12 }, () =>
        database.sqlTransaction((tx) => refreshManifests(tx, [device], { outbox, clock })),
      ),
    );
    expect(made.map(([one]) => one?.version)).toEqual(Array(12).fill(version));
  }
  await service.db.query(`UPDATE projection_snapshots SET completed_at = now() WHERE name = 'estate'`);
  await announced(device, 3);
});
