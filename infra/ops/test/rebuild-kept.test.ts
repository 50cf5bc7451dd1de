import { locationCreated, locationDeleted, locationUpdated } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { projection } from '@attribution/messaging';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type OpenDatabase, openServiceDatabase, ops } from './support.ts';

let database: OpenDatabase;
beforeEach(async () => {
  database = await openServiceDatabase('events');
});
afterEach(() => database.drop());

/** The same projection as that of Events. */
const knownLocations = projection({
  table: 'known_locations',
  states: [locationCreated, locationUpdated],
  gone: locationDeleted,
  row: ({ account_id, location: { id, group_id, timezone } }) => ({ account_id, id, group_id, timezone }),
  goneId: ({ location_id }) => location_id,
  keepsGone: true,
});

test('--empty keeps what is gone, and what the snapshot does not show again, as gone; and what a device once was', async () => {
  const account_id = newId('account');
  const [open, lost, gone] = [newId('location'), newId('location'), newId('location')];
  for (const id of [open, lost, gone])
    await database.rows(
      `INSERT INTO known_locations (account_id, id, group_id, timezone, gone, aggregate_version)
       VALUES ($1, $2, 'grp_x', 'Europe/Zurich', $3, 5)`,
      ...[account_id, id, id === gone],
    );
  await database.rows('INSERT INTO projection_tombstones (id) VALUES ($1)', gone);
  await database.rows(`INSERT INTO device_locations VALUES ($1, 'dev_x', $2)`, account_id, gone);

  const { code, out } = await ops('rebuild events estate --empty --wait 0', database.environment);
  expect([code, out]).toEqual([0, expect.stringContaining('2 rows were deleted, or kept as gone')]);
  expect(await database.rows('SELECT location_id FROM device_locations')).toEqual([{ location_id: gone }]);
  const locations = () => database.rows('SELECT id, timezone, gone FROM known_locations ORDER BY id');
  const timezone = 'Europe/Zurich';
  expect(await locations()).toEqual([open, lost, gone].toSorted().map((id) => ({ id, timezone, gone: true })));

  const location = { id: open, group_id: 'grp_x', timezone } as never;
  const run = async (sql: string, ...values: unknown[]) => (await database.rows(sql, ...values)).length;
  const page = [open, gone].map((id) => ({
    account_id,
    aggregate_version: 5,
    location: { ...(location as object), id },
  }));
  await knownLocations.of(page as never)({ $executeRawUnsafe: run, $queryRawUnsafe: run as never });
  expect(await locations()).toEqual([open, lost, gone].toSorted().map((id) => ({ id, timezone, gone: id !== open })));
});
