import {
  createGroup,
  createLocation,
  deleteGroup,
  deleteLocation,
  getGroup,
  getLocation,
  listGroups,
  listLocations,
  lookUpGroups,
  updateGroup,
  updateLocation,
} from '@attribution/contracts';
import { countStatements, internalToken, numbersOf, type StatementTable, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, startOrganization } from './support.ts';

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

const table: StatementTable = {
  list_groups: {
    statements: 1,
    async prepare(rows) {
      const tenant = newTenant(service);
      await Promise.all(times(rows).map(() => tenant.group()));
      return () => tenant.owner.call(listGroups);
    },
  },
  look_up_groups: {
    statements: 1,
    async prepare(rows) {
      const tenant = newTenant(service);
      const groups = await Promise.all(times(rows).map(() => tenant.group()));
      const query = { account_id: tenant.account, ids: groups.map(({ id }) => id).join(',') };
      const client = service.client.with({ token: internalToken('account', 'organization') });
      return () => client.call(lookUpGroups, { query });
    },
  },
  create_group: {
    statements: 4,
    prepare: async () => () => newTenant(service).owner.call(createGroup, { body: { name: 'New' } }),
  },
  get_group: {
    statements: 1,
    async prepare() {
      const { owner, group } = await settled();
      return () => owner.call(getGroup, { params: { id: group.id } });
    },
  },
  update_group: {
    statements: 5,
    async prepare() {
      const { owner, group } = await settled();
      return () => owner.call(updateGroup, { params: { id: group.id }, body: { name: 'Other' } });
    },
  },
  delete_group: {
    statements: 5,
    async prepare() {
      const tenant = newTenant(service);
      const { id } = await tenant.group();
      return () => tenant.owner.call(deleteGroup, { params: { id } });
    },
  },
  list_locations: {
    statements: 1,
    async prepare(rows) {
      const tenant = newTenant(service);
      const group = await tenant.group();
      await Promise.all(times(rows).map(() => tenant.location(group.id)));
      return () => tenant.owner.call(listLocations, { query: { group_ids: group.id, query: 'location' } });
    },
  },
  create_location: {
    statements: 5,
    async prepare() {
      const { owner, group } = await settled();
      return () => owner.call(createLocation, { body: { group_id: group.id, name: 'New', timezone: 'UTC' } });
    },
  },
  get_location: {
    statements: 1,
    async prepare() {
      const { owner, location } = await settled();
      return () => owner.call(getLocation, { params: { id: location.id } });
    },
  },
  /** A move: the rights in both groups. */
  update_location: {
    statements: 6,
    async prepare() {
      const { owner, location, group: createdGroup } = await settled();
      const tenant = { owner };
      const { body: other } = await tenant.owner.call(createGroup, { body: { name: `Not ${createdGroup.name}` } });
      return () => owner.call(updateLocation, { params: { id: location.id }, body: { group_id: other.id } });
    },
  },
  delete_location: {
    statements: 5,
    async prepare() {
      const { owner, location } = await settled();
      return () => owner.call(deleteLocation, { params: { id: location.id } });
    },
  },
};

test.each([3, 30])('each endpoint sends its number of statements, with %d rows too', async (rows) => {
  expect(await countStatements(service, 'organization', table, rows)).toEqual(numbersOf(table));
});
