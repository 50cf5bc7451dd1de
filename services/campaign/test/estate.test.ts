import * as contracts from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { chanceFrom, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { isEstateRead, screensOf, takeChangedScreens } from '../src/estate/index.ts';
import { type CampaignDatabase, openCampaignDatabase } from '../src/store.ts';
import { startCampaign } from './support.ts';
import { announce, newInstallation, newLocation, newScreen } from './support-estate.ts';

let service: TestService;
let database: CampaignDatabase;
let jobLock: { release(destroy: boolean): void };
beforeAll(async () => {
  service = await startCampaign();
  database = openCampaignDatabase({ url: String(service.db.options.connectionString) });
  // As another replica would: the service's own job does not take the changes that these tests take.
  const holder = await service.db.connect();
  jobLock = holder;
  await holder.query(`SELECT pg_advisory_lock(hashtextextended('job follow-placements', 1))`);
});
afterAll(async () => {
  jobLock.release(true);
  await database.close();
  await service.stop();
});
beforeEach(() => taken());

const take = (most = 1000) => database.sqlTransaction((tx) => takeChangedScreens(tx, most));
const taken = async () => (await take()).map(({ screen_id }) => screen_id);
const sorted = (ids: readonly string[]) => ids.toSorted();

test('a screen is known with its location, group, tags and kind, once its location is known too', async () => {
  const [account, location] = [newId('account'), newLocation()];
  const [screen, other] = [newScreen(location, { tags: ['entrance', 'window'], audio: true }), newScreen(location)];
  const estate = announce(service, account);
  const screens = () => screensOf(database.sql, account).selectAll().orderBy('id').execute();
  await estate.screen(screen);
  await estate.screen(other);
  await estate.installation(newInstallation(location, [screen]));
  await estate.installation(newInstallation(location, [other], { status: 'removed' }));
  expect(await screens()).toEqual([]);
  await estate.location(location);
  const { id, zone_id, name, tags, width_px, height_px, accepted_formats, audio } = screen;
  expect(await screens()).toMatchObject([
    {
      ...{ id, zone_id, name, tags, width_px, height_px, accepted_formats, audio, account_id: account },
      ...{ location_id: location.id, location_name: location.name, group_id: location.group_id },
      ...{ timezone: 'Europe/Zurich', location_status: 'active', installed: true },
    },
    { id: other.id, installed: false },
  ]);
  await estate.screenGone(other.id);
  expect(await screens()).toHaveLength(1);
  expect(await screensOf(database.sql, newId('account')).selectAll().execute()).toEqual([]);
});

test('a change of what decides a placement names the screens that it concerns, and no other change does', async () => {
  const [account, location, elsewhere] = [newId('account'), newLocation(), newLocation()];
  const [one, two] = [newScreen(location), newScreen(location)];
  const estate = announce(service, account);
  for (const each of [location, elsewhere]) await estate.location(each);
  for (const each of [one, two]) await estate.screen(each);
  expect(await taken()).toEqual(sorted([one.id, two.id]));
  await estate.screen({ ...one, name: 'Renamed', width_px: 800, audio: true });
  await estate.location({ ...location, name: 'Renamed', timezone: 'UTC', status: 'inactive' });
  expect(await taken()).toEqual([]);
  await estate.screen({ ...one, tags: ['exit'] });
  expect(await taken()).toEqual([one.id]);
  await estate.location({ ...location, group_id: newId('group') });
  expect(await taken()).toEqual(sorted([one.id, two.id]));
  await estate.screen({ ...two, location_id: elsewhere.id, zone_id: newId('zone') });
  expect(await taken()).toEqual([two.id]);
  await estate.screenGone(two.id);
  expect(await take()).toEqual([{ account_id: account, screen_id: two.id }]);
});

test('changes are taken with the commit of what is done about them, by one of two at once', async () => {
  const [account, location] = [newId('account'), newLocation()];
  const estate = announce(service, account);
  await estate.location(location);
  const screens = [newScreen(location), newScreen(location), newScreen(location)].map(({ id }) => id);
  for (const id of screens) await estate.screen({ ...newScreen(location), id });
  const failed = database.sqlTransaction(async (tx) => {
    await takeChangedScreens(tx, 2);
    throw new Error('It could not be done');
  });
  await expect(failed).rejects.toThrow('could not');
  const both = await database.sqlTransaction(async (tx) => [await takeChangedScreens(tx, 2), await take()]);
  expect(sorted(both.flat().map(({ screen_id }) => screen_id))).toEqual(sorted(screens));
  expect(both.map(({ length }) => length)).toEqual([2, 1]);
});

test('a change that commits while older changes of its screen are being taken is not lost', async () => {
  const [account, location] = [newId('account'), newLocation()];
  const estate = announce(service, account);
  const screen = newScreen(location);
  await estate.location(location);
  await estate.screen(screen);
  await database.sqlTransaction(async (tx) => {
    expect(await takeChangedScreens(tx, 10)).toHaveLength(1);
    await estate.screen({ ...screen, tags: ['exit'] });
  });
  expect(await taken()).toEqual([screen.id]);
});

test('while the snapshot of the estate is being read, no change is taken', async () => {
  const [account, location] = [newId('account'), newLocation()];
  const estate = announce(service, account);
  await estate.location(location);
  const screen = newScreen(location);
  await estate.screen(screen);
  const setRead = (at: string) =>
    service.db.query(`UPDATE projection_snapshots SET completed_at = ${at} WHERE name = 'estate'`);
  await setRead('NULL');
  expect([await isEstateRead(database.sql), await taken()]).toEqual([false, []]);
  await setRead('now()');
  expect([await isEstateRead(database.sql), await taken()]).toEqual([true, [screen.id]]);
});

/** All that is known of an account. */
async function known(account: string) {
  const tables = ['known_locations', 'known_screens', 'known_installations', 'known_devices'];
  const rows = tables.map((table) =>
    service.db.query(`SELECT * FROM ${table} WHERE account_id = $1 ORDER BY id`, [account]),
  );
  return (await Promise.all(rows)).map((result) => result.rows);
}

test('the same events in any order, and repeated, leave the same estate; a device that was named stays known', async () => {
  const [account, location, gone] = [newId('account'), newLocation(), newLocation()];
  const screens = [newScreen(location), newScreen(location, { tags: [] }), newScreen(gone)] as const;
  const installation = newInstallation(location, screens);
  const removed = newInstallation(location, []);
  const at = (aggregate_version: number) => ({ account_id: account, aggregate_version });
  const { location_id: _, ...unplaced } = screens[0];
  const events = [
    [contracts.locationCreated, { ...at(1), location: { ...location, timezone: 'UTC' } }],
    [contracts.locationUpdated, { ...at(2), location }],
    [contracts.locationCreated, { ...at(1), location: gone }],
    [contracts.screenCreated, { ...at(1), screen: { ...unplaced, location_id: gone.id } }],
    [contracts.screenUpdated, { ...at(2), screen: screens[0] }],
    [contracts.screenCreated, { ...at(1), screen: screens[1] }],
    [contracts.screenCreated, { ...at(1), screen: screens[2] }],
    [contracts.installationCreated, { ...at(1), installation: { ...installation, outputs: [] } }],
    [contracts.installationUpdated, { ...at(2), installation }],
    [contracts.installationCreated, { ...at(1), installation: removed }],
    [contracts.installationDeleted, { ...at(2), installation_id: removed.id }],
    [contracts.screenDeleted, { ...at(2), screen_id: screens[2].id }],
    [contracts.locationDeleted, { ...at(2), location_id: gone.id }],
  ] as const;
  const chance = chanceFrom(7);
  let expected: Awaited<ReturnType<typeof known>> | undefined;
  for (let run = 0; run < 6; run++) {
    const order = run === 0 ? events : events.toSorted(() => chance.share() - 0.5);
    for (const [type, data] of [...order, ...order.slice(0, 4)]) await service.deliver(type, data as never, account);
    const found = await known(account);
    expected ??= found;
    expect(found).toEqual(expected);
    for (const table of ['known_locations', 'known_screens', 'known_installations', 'known_devices'])
      await service.db.query(`DELETE FROM ${table} WHERE account_id = $1`, [account]);
    await service.db.query('DELETE FROM projection_tombstones');
  }
  expect(expected?.map(({ length }) => length)).toEqual([1, 2, 1, 2]);
});

test('a device belongs to the account whose installation named it last', async () => {
  const [first, second] = [newId('account'), newId('account')];
  const location = newLocation();
  const installation = newInstallation(location, []);
  await announce(service, second).installation({
    ...installation,
    id: newId('installation'),
    updated_at: '2026-11-23T10:00:00.000Z',
  });
  await announce(service, first).installation(installation);
  const { rows } = await service.db.query('SELECT account_id FROM known_devices WHERE id = $1', [
    installation.device_id,
  ]);
  expect(rows).toEqual([{ account_id: second }]);
});
