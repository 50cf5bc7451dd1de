import { endpoints, exportEstate, matchScreens } from '@attribution/contracts';
import { expect, test } from '@jest/globals';
import { kindNames, kinds } from './kinds.ts';

/** Every endpoint of the contract. Who may call which is tested in `conformance.test.ts`. */
const all = endpoints.filter((endpoint) => endpoint.service === 'organization');

test('the contract has all endpoints of the area', () => {
  expect(all).toHaveLength(36);
});

test('no key writes, and a key that may read can read every list and thing of the estate', () => {
  const byKeys = all.filter(({ access }) => access.credential === 'any');
  expect(byKeys.filter(({ method }) => method !== 'GET')).toEqual([]);
  const reads = kindNames.flatMap((kind) => [kinds[kind].list, kinds[kind].get]);
  expect(byKeys).toEqual(expect.arrayContaining([...reads, matchScreens, exportEstate]));
});

test('groups are set up by an owner or an admin alone', () => {
  const writes = all.filter(({ method, path }) => method !== 'GET' && path.startsWith('/v2/groups'));
  expect(writes).toHaveLength(3);
  for (const { access } of writes) expect(access).toMatchObject({ roles: ['owner', 'admin'] });
});
