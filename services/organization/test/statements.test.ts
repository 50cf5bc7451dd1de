import * as contracts from '@attribution/contracts';
import { newId } from '@attribution/ids';
import {
  countRecords,
  countStatements,
  internalToken,
  numbersOf,
  oneRecordEach,
  type StatementTable,
  type TestService,
} from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type insideKinds, kinds } from './kinds.ts';
import { newTenant, startOrganization, type Tenant, type Tree } from './support.ts';
import { csv, imported, type Row, send } from './support-imports.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

/** A tenant with a group, and a location in it. */
async function settled() {
  const tenant = newTenant(service);
  const group = await tenant.group();
  const location = await tenant.location(group.id);
  return { ...tenant, group, location };
}

const times = (count: number) => Array.from({ length: count });

/** A tenant with a tree. */
async function planted() {
  const tenant = newTenant(service);
  return { tenant, owner: tenant.owner, tree: await tenant.tree() };
}

/** The endpoints that all kinds inside a location have in common: a list with every filter, a get, a deletion. */
function alike(
  kind: (typeof insideKinds)[number],
  filters: (tree: Tree) => Record<string, string>,
  removal = 5,
): StatementTable {
  const { list, get, remove, another } = kinds[kind];
  return {
    [list.operation]: {
      statements: 1,
      async prepare(rows) {
        const { tenant, owner, tree } = await planted();
        await Promise.all(times(rows - 1).map(() => another(tenant, tree)));
        const query = { group_ids: tree.group.id, location_ids: tree.location.id, ...filters(tree) };
        return () => owner.call(list, { query });
      },
    },
    [get.operation]: {
      statements: 1,
      async prepare() {
        const { owner, tree } = await planted();
        return () => owner.call(get, { params: { id: tree[kind].id } });
      },
    },
    [remove.operation]: {
      statements: removal,
      async prepare() {
        const { tenant, owner, tree } = await planted();
        const { id } = await another(tenant, tree);
        return () => owner.call(remove, { params: { id } });
      },
    },
  };
}

/** Outputs to this many screens of the tree. */
const wired = async (tenant: Tenant, { zone }: Tree, count: number) =>
  (await Promise.all(times(count).map(() => tenant.screen(zone.id)))).map(({ id }, at) => ({
    output: `HDMI-${at}`,
    screen_id: id,
  }));
const groupRows = (count: number): Row[] =>
  times(count).map((_, at) => ({ kind: 'group', external_id: `G-${at}`, name: 'A group' }));
/** An installation has 16 at most. */
const outputsFor = (rows: number) => Math.min(rows, 16);

const table: StatementTable = {
  list_groups: {
    statements: 1,
    async prepare(rows) {
      const tenant = newTenant(service);
      await Promise.all(times(rows).map(() => tenant.group()));
      return () => tenant.owner.call(contracts.listGroups);
    },
  },
  look_up_groups: {
    statements: 1,
    async prepare(rows) {
      const tenant = newTenant(service);
      const groups = await Promise.all(times(rows).map(() => tenant.group()));
      const query = { account_id: tenant.account, ids: groups.map(({ id }) => id).join(',') };
      const client = service.client.with({ token: internalToken('account', 'organization') });
      return () => client.call(contracts.lookUpGroups, { query });
    },
  },
  create_group: {
    statements: 5,
    prepare: async () => () => newTenant(service).owner.call(contracts.createGroup, { body: { name: 'New' } }),
  },
  get_group: {
    statements: 1,
    async prepare() {
      const { owner, group } = await settled();
      return () => owner.call(contracts.getGroup, { params: { id: group.id } });
    },
  },
  update_group: {
    statements: 5,
    async prepare() {
      const { owner, group } = await settled();
      return () => owner.call(contracts.updateGroup, { params: { id: group.id }, body: { name: 'Other' } });
    },
  },
  delete_group: {
    statements: 5,
    async prepare() {
      const tenant = newTenant(service);
      const { id } = await tenant.group();
      return () => tenant.owner.call(contracts.deleteGroup, { params: { id } });
    },
  },
  list_locations: {
    statements: 1,
    async prepare(rows) {
      const tenant = newTenant(service);
      const group = await tenant.group();
      await Promise.all(times(rows).map(() => tenant.location(group.id)));
      return () => tenant.owner.call(contracts.listLocations, { query: { group_ids: group.id, query: 'location' } });
    },
  },
  create_location: {
    statements: 6,
    async prepare() {
      const { owner, group } = await settled();
      return () => owner.call(contracts.createLocation, { body: { group_id: group.id, name: 'New', timezone: 'UTC' } });
    },
  },
  get_location: {
    statements: 1,
    async prepare() {
      const { owner, location } = await settled();
      return () => owner.call(contracts.getLocation, { params: { id: location.id } });
    },
  },
  /** A move, which checks the rights in both groups. */
  update_location: {
    statements: 6,
    async prepare() {
      const { owner, location, group: createdGroup } = await settled();
      const tenant = { owner };
      const { body: other } = await tenant.owner.call(contracts.createGroup, {
        body: { name: `Not ${createdGroup.name}` },
      });
      return () => owner.call(contracts.updateLocation, { params: { id: location.id }, body: { group_id: other.id } });
    },
  },
  delete_location: {
    statements: 5,
    async prepare() {
      const { owner, location } = await settled();
      return () => owner.call(contracts.deleteLocation, { params: { id: location.id } });
    },
  },
  ...alike('zone', () => ({ query: 'zone' })),
  create_zone: {
    statements: 6,
    async prepare() {
      const { owner, location } = await settled();
      return () => owner.call(contracts.createZone, { body: { location_id: location.id, name: 'New' } });
    },
  },
  update_zone: {
    statements: 5,
    async prepare() {
      const { owner, tree } = await planted();
      return () => owner.call(contracts.updateZone, { params: { id: tree.zone.id }, body: { kind: 'aisle' } });
    },
  },
  ...alike('screen', ({ zone }) => ({ zone_ids: zone.id, query: 'screen' })),
  create_screen: {
    statements: 6,
    async prepare() {
      const { owner, tree } = await planted();
      const body = { zone_id: tree.zone.id, name: 'New', width_px: 1, height_px: 1, tags: ['a', 'b'] };
      return () => owner.call(contracts.createScreen, { body });
    },
  },
  /** A move. */
  update_screen: {
    statements: 6,
    async prepare() {
      const { tenant, owner, tree } = await planted();
      const zone_id = (await tenant.zone(tree.location.id)).id;
      return () =>
        owner.call(contracts.updateScreen, { params: { id: tree.screen.id }, body: { zone_id, width_px: 1 } });
    },
  },
  match_screens: {
    statements: 2,
    async prepare(rows) {
      const { tenant, owner, tree } = await planted();
      const tags = ['here'];
      await Promise.all(times(rows).map(() => tenant.screen(tree.zone.id, { tags })));
      const query = { tags: 'here', group_ids: tree.group.id, location_ids: tree.location.id };
      return () => owner.call(contracts.matchScreens, { query });
    },
  },
  ...alike('installation', () => ({ status: 'live' }), 6),
  create_installation: {
    statements: 8,
    async prepare(rows) {
      const { tenant, owner, tree } = await planted();
      const outputs = await wired(tenant, tree, outputsFor(rows));
      const body = { location_id: tree.location.id, device_id: newId('device'), outputs };
      return () => owner.call(contracts.createInstallation, { body });
    },
  },
  /** Its outputs are read after it is locked. */
  update_installation: {
    statements: 9,
    async prepare(rows) {
      const { tenant, owner, tree } = await planted();
      const outputs = await wired(tenant, tree, outputsFor(rows));
      const params = { id: tree.installation.id };
      return () => owner.call(contracts.updateInstallation, { params, body: { outputs, status: 'removed' } });
    },
  },
  ...alike('camera', ({ zone }) => ({ zone_ids: zone.id, query: 'camera' })),
  create_camera: {
    statements: 6,
    async prepare() {
      const { owner, tree } = await planted();
      const body = { zone_id: tree.zone.id, device_id: newId('device'), name: 'New' };
      return () => owner.call(contracts.createCamera, { body });
    },
  },
  /** A move. */
  update_camera: {
    statements: 6,
    async prepare() {
      const { tenant, owner, tree } = await planted();
      const zone_id = (await tenant.zone(tree.location.id)).id;
      return () => owner.call(contracts.updateCamera, { params: { id: tree.camera.id }, body: { zone_id } });
    },
  },
  /** One for each kind. */
  estate_snapshot: {
    statements: 6,
    async prepare(rows) {
      const { tenant, tree } = await planted();
      await Promise.all(times(rows - 1).map(() => tenant.zone(tree.location.id)));
      const client = service.client.with({ token: internalToken('account', 'organization') });
      return async () => {
        const { status, body } = await client.call(contracts.estateSnapshot, { query: { account_id: tenant.account } });
        return { status, body: body.zones };
      };
    },
  },
  /** One for each kind that is asked for. */
  look_up_estate: {
    statements: 5,
    async prepare(rows) {
      const { tenant, tree } = await planted();
      const zones = await Promise.all(times(rows - 1).map(() => tenant.zone(tree.location.id)));
      const client = service.client.with({ token: internalToken('events', 'organization') });
      const ids = [tree.location, tree.zone, ...zones].map(({ id }) => id).join(',');
      const query = { account_id: tenant.account, device_id: newId('device'), ids };
      return async () => {
        const { status, body } = await client.call(contracts.lookUpEstate, { query });
        return { status, body: body.zones };
      };
    },
  },
  /** Counts the imports that are not done before it reads the file, and again when it stores it; the job does the rest. */
  import_estate: {
    statements: 8,
    async prepare(rows) {
      const tenant = newTenant(service);
      const upload = { media: 'text/csv', content: csv(groupRows(rows)) } as const;
      return () => tenant.owner.call(contracts.importEstate, { upload });
    },
  },
  list_estate_imports: {
    statements: 1,
    async prepare(rows) {
      const { owner } = newTenant(service);
      for (let file = 0; file < rows; file++) await imported(owner, groupRows(1), { dry_run: true });
      return () => owner.call(contracts.listEstateImports);
    },
  },
  get_estate_import: {
    statements: 1,
    async prepare() {
      const { owner } = newTenant(service);
      const { id } = await send(owner, groupRows(1), { dry_run: true });
      return () => owner.call(contracts.getEstateImport, { params: { id } });
    },
  },
  get_estate_import_report: {
    statements: 2,
    async prepare(rows) {
      const { owner } = newTenant(service);
      const refused = groupRows(rows).map((row) => ({ ...row, name: '' }));
      const { id, report } = await imported(owner, refused);
      if (report.length !== rows) throw new Error(`${report.length} rows were refused`);
      return () => owner.call(contracts.getEstateImportReport, { params: { id } });
    },
  },
  /** One for each kind, all in one snapshot of the database, after the audit record. */
  export_estate: {
    statements: 11,
    async prepare(rows) {
      const { tenant, owner, tree } = await planted();
      await Promise.all(times(rows).map(() => tenant.screen(tree.zone.id)));
      return () => owner.call(contracts.exportEstate, { query: { group_ids: tree.group.id } });
    },
  },
};

test.each([3, 30])('each endpoint sends the same number of statements, with %d rows', async (rows) => {
  expect(await countStatements(service, 'organization', table, rows)).toEqual(numbersOf(table));
});

test('each endpoint that writes, and the export, leaves one audit record of a success', async () => {
  expect(await countRecords(service, 'organization', table)).toEqual(oneRecordEach('organization'));
});
