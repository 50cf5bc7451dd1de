import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, startOrganization, type Tenant, type Tree } from './support.ts';

let service: TestService;
let tenant: Tenant;
let tree: Tree;
/** Another tree of the account, and one of another account. */
let next: Tree;
/** A screen of `next` that is not wired. */
let spare: Tree['screen'];
let foreign: Tree & { readonly account: string };
beforeAll(async () => {
  service = await startOrganization();
  tenant = newTenant(service);
  [tree, next] = [await tenant.tree(), await tenant.tree()];
  spare = await tenant.screen(next.zone.id);
  const other = newTenant(service);
  foreign = { ...(await other.tree()), account: other.account };
});
afterAll(() => service.stop());

/** SQL that copies a row, bypassing the service, with some columns changed. The first of the values is the id of the copy. */
function copied(table: string, id: string, changes: Record<string, unknown>): Promise<unknown> {
  const json = JSON.stringify(changes);
  return service.db.query(
    `INSERT INTO ${table} SELECT (jsonb_populate_record(t, $2::jsonb)).* FROM ${table} t WHERE t.id = $1`,
    [id, json],
  );
}
const changed = (table: string, id: string, set: string) =>
  service.db.query(`UPDATE ${table} SET ${set} WHERE id = $1`, [id]);

test('a copy that breaks no rule is accepted, so that the copies below are refused for their fault alone', async () => {
  const own = newTenant(service);
  const { location, zone, screen, camera, installation } = await own.tree();
  await copied('locations', location.id, { id: newId('location') });
  await copied('zones', zone.id, { id: newId('zone') });
  await copied('screens', screen.id, { id: newId('screen') });
  await copied('cameras', camera.id, { id: newId('camera') });
  await copied('installations', installation.id, { id: newId('installation'), device_id: newId('device') });
});

test.each<[string, string, () => Promise<unknown>]>([
  [
    'a location in a group of another account',
    'locations_account_id_group_id_fkey',
    () => copied('locations', tree.location.id, { id: newId('location'), group_id: foreign.group.id }),
  ],
  [
    'a zone in a location of another account',
    'zones_account_id_group_id_location_id_fkey',
    () => copied('zones', tree.zone.id, { id: newId('zone'), location_id: foreign.location.id }),
  ],
  [
    'a zone of another account in a location',
    'zones_account_id_group_id_location_id_fkey',
    () => copied('zones', tree.zone.id, { id: newId('zone'), account_id: foreign.account }),
  ],
  [
    'a zone in another group than its location',
    'zones_account_id_group_id_location_id_fkey',
    () => copied('zones', tree.zone.id, { id: newId('zone'), group_id: next.group.id }),
  ],
  [
    'a screen in another location than its zone',
    'screens_account_id_group_id_location_id_zone_id_fkey',
    () => copied('screens', tree.screen.id, { id: newId('screen'), zone_id: next.zone.id }),
  ],
  [
    'a screen in another group than its zone',
    'screens_account_id_group_id_location_id_zone_id_fkey',
    () => copied('screens', tree.screen.id, { id: newId('screen'), group_id: next.group.id }),
  ],
  [
    'a camera in a zone of another account',
    'cameras_account_id_group_id_location_id_zone_id_fkey',
    () => copied('cameras', tree.camera.id, { id: newId('camera'), zone_id: foreign.zone.id }),
  ],
  [
    'an installation in another group than its location',
    'installations_account_id_group_id_location_id_fkey',
    () =>
      copied('installations', tree.installation.id, {
        id: newId('installation'),
        device_id: newId('device'),
        group_id: next.group.id,
      }),
  ],
  [
    'two live installations of a device',
    'installations_live_device',
    () => copied('installations', tree.installation.id, { id: newId('installation') }),
  ],
  [
    'two live installations of a screen',
    'installation_outputs_live_screen',
    async () => {
      const { id } = await tenant.installation(tree.location.id);
      const sql = 'INSERT INTO installation_outputs (installation_id, location_id, output, screen_id, live) VALUES';
      await service.db.query(`${sql} ($1, $2, 'A', $3, true)`, [id, tree.location.id, tree.screen.id]);
    },
  ],
  [
    'an output that says of a live installation that it is removed',
    'installation_outputs_location_id_installation_id_live_fkey',
    () =>
      service.db.query('UPDATE installation_outputs SET live = false WHERE installation_id = $1', [
        tree.installation.id,
      ]),
  ],
  [
    'a screen wired to an installation in another location',
    'installation_outputs_location_id_screen_id_fkey',
    () =>
      service.db.query('UPDATE installation_outputs SET screen_id = $2 WHERE installation_id = $1', [
        tree.installation.id,
        spare.id,
      ]),
  ],
  [
    'an output of another location than its installation',
    'installation_outputs_location_id_installation_id_live_fkey',
    () =>
      service.db.query('UPDATE installation_outputs SET screen_id = $2, location_id = $3 WHERE installation_id = $1', [
        tree.installation.id,
        spare.id,
        next.location.id,
      ]),
  ],
  [
    'a live installation that was removed at some time',
    'installations_live_check',
    () => changed('installations', tree.installation.id, 'removed_at = now()'),
  ],
  [
    'a removed installation without the time of it',
    'installations_live_check',
    () => changed('installations', next.installation.id, 'live = false'),
  ],
  [
    'a location with one coordinate',
    'locations_point_check',
    () => changed('locations', tree.location.id, 'latitude = 1'),
  ],
  [
    'a venue type without its taxonomy',
    'locations_venue_check',
    () => changed('locations', tree.location.id, "venue_type = 'retail'"),
  ],
  ['a screen without a width', 'screens_size_check', () => changed('screens', tree.screen.id, 'width_px = 0')],
  [
    'two zones of one external id',
    'zones_account_id_external_id_key',
    async () => {
      const { id } = await tenant.zone(tree.location.id, { external_id: 'X-1' });
      await copied('zones', id, { id: newId('zone') });
    },
  ],
  [
    'a group that is deleted with its locations in it',
    'locations_account_id_group_id_fkey',
    () => service.db.query('DELETE FROM groups WHERE id = $1', [tree.group.id]),
  ],
  [
    'a zone that is deleted with its screens in it',
    'screens_account_id_group_id_location_id_zone_id_fkey',
    () => service.db.query('DELETE FROM zones WHERE id = $1', [tree.zone.id]),
  ],
])('the database refuses %s', async (_, constraint, work) => {
  await expect(work()).rejects.toMatchObject({ constraint });
});
