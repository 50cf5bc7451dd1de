import { groupDeleted } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, type TestService } from '@attribution/testing';
import { afterEach, expect, test } from '@jest/globals';
import { rows, startAccountService } from './support.ts';
import { startOrganizationDouble } from './support-organization.ts';

const ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0)) await end();
});

async function start(environment: Record<string, string> = {}): Promise<TestService> {
  const service = await startAccountService(environment);
  ending.push(() => service.stop());
  return service;
}

test('groups created before the first event are known for all accounts, and disappear when they are deleted', async () => {
  const organization = await startOrganizationDouble();
  const [one, other] = [newId('account'), newId('account')];
  const groups = [one, one, other, one, other].map((account_id) => ({
    id: organization.addGroup(account_id),
    account_id,
    aggregate_version: 1,
  }));
  const service = await start({ ORGANIZATION_URL: organization.url });
  ending.push(() => organization.stop());
  const known = () => rows(service, 'SELECT * FROM known_groups ORDER BY id');
  await eventually(async () => expect(await known()).toEqual(groups));
  await eventually(async () => {
    const [walk] = await rows<{ completed_at: Date | null }>(service, 'SELECT * FROM projection_snapshots');
    expect(walk).toMatchObject({ name: 'groups', cursor: null, completed_at: expect.any(Date) });
  });
  await service.deliver(groupDeleted, { account_id: one, aggregate_version: 2, group_id: groups[0]?.id ?? '' }, one);
  expect(await known()).toEqual(groups.slice(1));
});

test('while Organization is unreachable the service stays healthy, and logs it once', async () => {
  const service = await start();
  await eventually(() => expect(service.logs.text()).toContain('A snapshot cannot be read yet'));
  await new Promise((resolve) => setTimeout(resolve, 1_500)); // In which it has been tried again.
  expect(service.logs.text().match(/A snapshot cannot be read yet/g)).toHaveLength(1);
  expect((await fetch(`${service.url}/readyz`)).status).toBe(200);
});
