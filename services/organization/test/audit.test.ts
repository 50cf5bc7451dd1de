import {
  type AuditEntry,
  createGroup,
  createZone,
  endpoints,
  exportEstate,
  isRecorded,
  updateGroup,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, startOrganization, type Tenant } from './support.ts';
import { imported, type Row, send } from './support-imports.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

/** The records of an account, once all that were committed are published. */
async function recordsOf({ account, events }: Tenant): Promise<AuditEntry[]> {
  await events();
  return service.audited.filter(({ account_id }) => account_id === account);
}
const actionsOf = async (tenant: Tenant) => (await recordsOf(tenant)).map(({ action }) => action).toSorted();

test('a record has who, where from, both request ids and the names of what was changed, and no values', async () => {
  const tenant = newTenant(service);
  const sub = newId('user');
  const platformId = '01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f';
  const headers = {
    'x-forwarded-for': '203.0.113.9',
    'user-agent': 'Mosaic/0.9',
    'x-request-id': 'one-of-my-own',
    'x-internal-request-id': platformId,
  };
  const group = await tenant.group('Before');
  const body = { name: 'After', external_id: 'G-1' };
  await tenant
    .as({ sub })
    .with({ headers })
    .call(updateGroup, { params: { id: group.id }, body });
  const found = (await recordsOf(tenant)).find(({ action }) => action === 'update_group');
  expect(found).toEqual({
    id: expect.any(String),
    account_id: tenant.account,
    occurred_at: expect.any(String),
    action: 'update_group',
    outcome: 'done',
    actor: { type: 'person', id: sub },
    subject: { type: 'group', id: group.id },
    ip: '203.0.113.9',
    user_agent: 'Mosaic/0.9',
    request_id: 'one-of-my-own',
    platform_request_id: platformId,
    details: { changed: ['external_id', 'name'] },
  });
});

test('the largest record has less than 4 KiB', async () => {
  const tenant = newTenant(service);
  const headers = { 'user-agent': 'x'.repeat(8_000), 'x-request-id': 'y'.repeat(128) };
  const location = await tenant.location((await tenant.group()).id);
  await tenant.owner.with({ headers }).call(createZone, {
    body: { location_id: location.id, name: 'x'.repeat(200), external_id: 'z'.repeat(200) },
  });
  for (const record of await recordsOf(tenant)) expect(JSON.stringify(record).length).toBeLessThan(4_096);
});

test('a repetition under an Idempotency-Key leaves no further record, one after the other or all at once', async () => {
  const tenant = newTenant(service);
  const twice = { body: { name: 'Twice' }, headers: { 'idempotency-key': 'twice' } };
  for (let n = 0; n < 3; n++) expect((await tenant.owner.call(createGroup, twice)).status).toBe(201);
  const atOnce = { body: { name: 'At once' }, headers: { 'idempotency-key': 'at-once' } };
  await Promise.all(Array.from({ length: 10 }, () => tenant.owner.call(createGroup, atOnce)));
  expect(await actionsOf(tenant)).toEqual(['create_group', 'create_group']);
});

test('a change that is refused, before or after its rows were written, leaves no record', async () => {
  const tenant = await newTenant(service).withPlan({ locations: 0 });
  const group = await tenant.group('First', { external_id: 'taken' });
  const body = { name: 'Second', external_id: 'taken' };
  expect((await tenant.owner.call(createGroup, { body })).status).toBe(409);
  await expect(tenant.location(group.id)).rejects.toThrow('unprocessable');
  expect((await tenant.owner.call(updateGroup, { params: { id: newId('group') }, body })).status).toBe(404);
  expect(await actionsOf(tenant)).toEqual(['create_group']);
});

test('each refused call of an endpoint has a record, once a minute for each actor, and nothing of it is done', async () => {
  const tenant = newTenant(service);
  const sub = newId('user');
  const viewer = tenant.as({ sub, role: 'viewer' });
  const writing = endpoints.filter((one) => one.service === 'organization' && isRecorded(one) && one.method !== 'GET');
  const zone = newId('zone');
  for (let n = 0; n < 3; n++)
    for (const endpoint of writing) {
      const params = { id: zone };
      expect((await viewer.call(endpoint, { params } as never)).status).toBe(403);
    }
  const operations = writing.map(({ operation }) => operation).toSorted();
  await eventually(async () => expect(await actionsOf(tenant)).toEqual(operations));
  for (const record of await recordsOf(tenant))
    expect(record).toMatchObject({
      outcome: 'refused',
      actor: { type: 'person', id: sub },
      details: { reason: expect.any(String) },
    });
  const touched = (await recordsOf(tenant)).filter(({ subject }) => subject !== null);
  expect(touched.map(({ action, subject }) => [action, subject])).toEqual(
    expect.arrayContaining([
      ['update_zone', { type: 'zone', id: zone }],
      ['delete_zone', { type: 'zone', id: zone }],
    ]),
  );
  expect(touched).toHaveLength(2); // Elsewhere it is no id.
});

test('an export has its record when it begins, and an import one of the file and one of what it changed', async () => {
  const tenant = newTenant(service);
  const rows: Row[] = [
    { kind: 'group', external_id: 'G-1', name: 'One' },
    { kind: 'group', external_id: 'G-2', name: '' },
  ];
  const { id } = await imported(tenant.owner, rows);
  await send(tenant.owner, rows).then(({ id: other }) => expect(other).not.toBe(id));
  await tenant.owner.call(exportEstate);
  const ended = await eventually(async () => {
    const found = (await recordsOf(tenant)).filter(({ action }) => action === 'estate_import.ended');
    expect(found).toHaveLength(2);
    return found.find(({ subject }) => subject?.id === id);
  });
  expect(ended).toMatchObject({
    actor: { type: 'person' },
    subject: { type: 'job', id },
    details: { status: 'succeeded', dry_run: false, total: 2, created: 1, updated: 0, unchanged: 0, refused: 1 },
  });
  const actions = ['estate_import.ended', 'estate_import.ended', 'export_estate', 'import_estate', 'import_estate'];
  expect(await actionsOf(tenant)).toEqual(actions);
});
