import { deleteGroup, lookUpGroups } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { internalToken, sendRaw, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, startOrganization } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

const lookUp = (account_id: string, ids: readonly string[]) =>
  service.client
    .with({ token: internalToken('account', 'organization') })
    .call(lookUpGroups, { query: { account_id, ids: ids.join(',') } });

test('200: the groups of the account among the given ids, and none of another account', async () => {
  const [mine, theirs] = [newTenant(service), newTenant(service)];
  const [north, south, foreign] = [await mine.group('North'), await mine.group('South'), await theirs.group()];
  const { status, body } = await lookUp(mine.account, [south.id, foreign.id, newId('group'), north.id]);
  expect(status).toBe(200);
  expect(body).toEqual({
    entries: [
      { id: north.id, name: 'North' },
      { id: south.id, name: 'South' },
    ],
  });
});

test('200: empty for an account that has no groups or does not exist', async () => {
  const { id } = await newTenant(service).group();
  expect((await lookUp(newId('account'), [id])).body).toEqual({ entries: [] });
});

test('200: a deleted group is left out', async () => {
  const { account, owner, ...tenant } = newTenant(service);
  const { id } = await tenant.group();
  await owner.call(deleteGroup, { params: { id } });
  expect((await lookUp(account, [id])).body).toEqual({ entries: [] });
});

test('200: 100 at once', async () => {
  const tenant = newTenant(service);
  const ids = Array.from({ length: 99 }, () => newId('group'));
  const { id } = await tenant.group();
  expect((await lookUp(tenant.account, [...ids, id])).body.entries).toHaveLength(1);
});

test.each([
  ['', 'query.account_id: is required.'],
  [`account_id=acc_1&ids=${newId('group')}`, 'query.account_id: must be an account id (acc_…), not "acc_1".'],
  [`account_id=${newId('account')}`, 'query.ids: is required.'],
  [`account_id=${newId('account')}&ids=grp_1`, 'query.ids[0]: must be a group id (grp_…), not "grp_1".'],
  [
    `account_id=${newId('account')}&ids=${Array.from({ length: 101 }, () => newId('group')).join(',')}`,
    'query.ids: must have at most 100 values.',
  ],
])('400: names what is missing or invalid (%#)', async (query, detail) => {
  const token = internalToken('account', 'organization');
  const { status, text } = await sendRaw(service, 'GET', `/internal/v2/groups?${query}`, token);
  expect([status, JSON.parse(text).detail]).toEqual([400, detail]);
});
