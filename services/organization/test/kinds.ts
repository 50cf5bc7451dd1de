import * as contracts from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import type { Tenant, Tree } from './support.ts';

/** Every kind, parents before children: its endpoints, its table, and how to create another one in a tree. */
export const kinds = {
  group: {
    path: '/v2/groups',
    table: 'groups',
    list: contracts.listGroups,
    create: contracts.createGroup,
    get: contracts.getGroup,
    update: contracts.updateGroup,
    remove: contracts.deleteGroup,
    another: (tenant: Tenant) => tenant.group(),
  },
  location: {
    path: '/v2/locations',
    table: 'locations',
    list: contracts.listLocations,
    create: contracts.createLocation,
    get: contracts.getLocation,
    update: contracts.updateLocation,
    remove: contracts.deleteLocation,
    another: (tenant: Tenant, { group }: Tree) => tenant.location(group.id),
  },
  zone: {
    path: '/v2/zones',
    table: 'zones',
    list: contracts.listZones,
    create: contracts.createZone,
    get: contracts.getZone,
    update: contracts.updateZone,
    remove: contracts.deleteZone,
    another: (tenant: Tenant, { location }: Tree) => tenant.zone(location.id),
  },
  screen: {
    path: '/v2/screens',
    table: 'screens',
    list: contracts.listScreens,
    create: contracts.createScreen,
    get: contracts.getScreen,
    update: contracts.updateScreen,
    remove: contracts.deleteScreen,
    another: (tenant: Tenant, { zone }: Tree) => tenant.screen(zone.id),
  },
  installation: {
    path: '/v2/installations',
    table: 'installations',
    list: contracts.listInstallations,
    create: contracts.createInstallation,
    get: contracts.getInstallation,
    update: contracts.updateInstallation,
    remove: contracts.deleteInstallation,
    another: (tenant: Tenant, { location }: Tree) => tenant.installation(location.id),
  },
  camera: {
    path: '/v2/cameras',
    table: 'cameras',
    list: contracts.listCameras,
    create: contracts.createCamera,
    get: contracts.getCamera,
    update: contracts.updateCamera,
    remove: contracts.deleteCamera,
    another: (tenant: Tenant, { zone }: Tree) => tenant.camera(zone.id),
  },
} as const;

export type KindName = keyof typeof kinds;
export const kindNames = Object.keys(kinds) as KindName[];
/** Kinds inside a location, which move with it. */
export const insideKinds = ['zone', 'screen', 'installation', 'camera'] as const satisfies KindName[];
/** All kinds but groups: those that the admin of a group may set up. */
export const placedKinds = ['location', ...insideKinds] as const satisfies KindName[];

/** The smallest body that creates a thing in a tree. */
const bodies: Record<KindName, (tree: Tree) => object> = {
  group: () => ({ name: 'New' }),
  location: ({ group }) => ({ group_id: group.id, name: 'New', timezone: 'UTC' }),
  zone: ({ location }) => ({ location_id: location.id, name: 'New' }),
  screen: ({ zone }) => ({ zone_id: zone.id, name: 'New', width_px: 1, height_px: 1 }),
  installation: ({ location }) => ({ location_id: location.id, device_id: newId('device') }),
  camera: ({ zone }) => ({ zone_id: zone.id, device_id: newId('device'), name: 'New' }),
};
export const bodyIn = (kind: KindName, tree: Tree): object => bodies[kind](tree);

/**
 * Inserts many rows of a kind, bypassing the service, in parents of their own. Returns their ids, oldest first. A table
 * ignores fields for which it has no column.
 */
export async function fill({ db }: TestService, tenant: Tenant, kind: KindName, count: number): Promise<string[]> {
  const depth = { group: 0, location: 1, zone: 2, installation: 2, screen: 3, camera: 3 }[kind];
  const group_id = depth > 0 ? (await tenant.group()).id : undefined;
  const location_id = group_id && depth > 1 ? (await tenant.location(group_id)).id : undefined;
  const zone_id = location_id && depth > 2 ? (await tenant.zone(location_id)).id : undefined;
  const at = new Date();
  const common = { account_id: tenant.account, group_id, location_id, zone_id, created_at: at, updated_at: at };
  const location = { timezone: 'UTC', status: 'active' };
  const screen = { tags: [], accepted_formats: ['image/png'], width_px: 2, height_px: 1, orientation: 'landscape' };
  const rows = Array.from({ length: count }, () => ({
    ...common,
    id: newId(kind),
    device_id: newId('device'),
    name: 'Row',
    aggregate_version: 1,
    ...{ ...location, kind: 'other', ...screen, audio: false, live: true, installed_at: at },
  }));
  const { table } = kinds[kind];
  const sql = `INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)`;
  await db.query(sql, [JSON.stringify(rows)]);
  return rows.map(({ id }) => id);
}
