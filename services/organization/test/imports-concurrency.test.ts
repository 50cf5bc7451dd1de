import {
  createLocation,
  deleteGroup,
  deleteLocation,
  deleteZone,
  listLocations,
  listZones,
  updateLocation,
} from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, startOrganization } from './support.ts';
import {
  a,
  countsOf,
  ended,
  exportedIds,
  exportedRows,
  imported,
  send,
  site,
  waitsForLock,
} from './support-imports.ts';
import { startReplica } from './support-replica.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

const forty = Array.from({ length: 40 }, (_, at) => at);

test('an import succeeds while others move and delete locations, delete groups and take external ids, and each unit is set up whole or not at all', async () => {
  const tenant = newTenant(service);
  const { owner } = tenant;
  const old = [
    a.group('G'),
    a.group('H'),
    ...forty.flatMap((at) => [a.location(`O${at}`, 'G'), a.zone(`O${at}-Z`, `O${at}`)]),
  ];
  await imported(owner, old);
  const existing = (await owner.call(listLocations, { query: { limit: 100 } })).body.entries;
  const zones = (await owner.call(listZones, { query: { limit: 100 } })).body.entries;
  const groups = await Promise.all(forty.map((at) => tenant.group('Short-lived', { external_id: `S${at}` })));
  const home = await tenant.group('Home');
  const file = [
    ...old.map((row) => (row.kind === 'location' ? { ...row, name: 'New' } : row)),
    ...forty.flatMap((at) => site(`N${at}`, `S${at}`)),
  ];
  const edits = [
    ...existing.map(
      ({ id }) =>
        () =>
          owner.call(updateLocation, { params: { id }, body: { group_id: home.id } }),
    ),
    ...zones.slice(0, 20).map(
      ({ id }) =>
        () =>
          owner.call(deleteZone, { params: { id } }),
    ),
    ...existing.slice(0, 20).map(
      ({ id }) =>
        () =>
          owner.call(deleteLocation, { params: { id } }),
    ),
    ...groups.slice(0, 20).map(
      ({ id }) =>
        () =>
          owner.call(deleteGroup, { params: { id } }),
    ),
    ...forty.slice(20).map((at) => () => {
      const body = { group_id: home.id, name: 'Taken', timezone: 'UTC', external_id: `N${at}` };
      return owner.call(createLocation, { body });
    }),
  ];
  const { id } = await send(owner, file);
  const answers = await Promise.all(edits.map((edit) => edit()));
  expect([...new Set(answers.map(({ status }) => status))].filter((status) => status >= 500)).toEqual([]);
  const done = await ended(owner, id);
  expect([done.status, done.error]).toEqual(['succeeded', null]);
  expect(countsOf(done).reduce((sum, count) => sum + count)).toBe(file.length);
  const ids = new Set(await exportedIds(owner));
  for (const at of forty) {
    const unit = site(`N${at}`, 'S').map(({ external_id }) => ids.has(String(external_id)));
    const taken = at >= 20;
    expect([`11111`, `00000`, ...(taken ? ['10000'] : [])]).toContain(unit.map(Number).join(''));
  }
  // A second import, without interference, completes the rest.
  const again = await imported(owner, file);
  expect(again.report.every(({ reason }) => /there is no group|Row \d+ of the same/.test(reason))).toBe(true);
});

test('an installation that is rewired while the import waits for its lock keeps its new outputs, and the event has them', async () => {
  const tenant = newTenant(service);
  await imported(tenant.owner, [a.group('G'), ...site('L', 'G')]);
  const client = await service.db.connect();
  await client.query('BEGIN');
  const { rows } = await client.query<{ id: string }>(
    'UPDATE installations SET aggregate_version = 2 WHERE account_id = $1 RETURNING id',
    [tenant.account],
  );
  await client.query('DELETE FROM installation_outputs WHERE installation_id = $1', [rows[0]?.id]);
  const { id } = await send(tenant.owner, [{ kind: 'installation', external_id: 'L-I', parent: 'L', name: 'New' }]);
  await waitsForLock(service, 'installations');
  await client.query('COMMIT');
  client.release();
  expect(countsOf(await ended(tenant.owner, id))).toEqual([0, 1, 0, 0]);
  const [after] = (await exportedRows(tenant.owner)).filter(({ kind }) => kind === 'installation');
  expect([after?.name, after?.outputs]).toEqual(['New', '[]']);
  expect((await tenant.events()).at(-1)?.data).toMatchObject({
    aggregate_version: 3,
    installation: { name: 'New', outputs: [] },
  });
});

test('two instances of the service share five waiting imports, and apply each row once', async () => {
  const replica = await startReplica(service);
  try {
    const tenants = [1, 2, 3, 4, 5].map(() => newTenant(service));
    const file = [a.group('G'), ...forty.flatMap((at) => site(`L${at}`, 'G'))];
    const jobs = await Promise.all(tenants.map(({ owner }) => send(owner, file)));
    for (const [at, tenant] of tenants.entries()) {
      expect(countsOf(await ended(tenant.owner, jobs[at]?.id ?? ''))).toEqual([file.length, 0, 0, 0]);
      expect(await exportedIds(tenant.owner)).toHaveLength(file.length);
    }
    await tenants[0]?.events();
    const published = [...service.published, ...replica.published];
    for (const { account } of tenants) {
      const own = published.filter(({ account_id }) => account_id === account);
      expect(own).toHaveLength(file.length);
      expect(new Set(own.map(({ event_id }) => event_id)).size).toBe(file.length);
      expect(own.every(({ type, data }) => type.endsWith('.created') && data.aggregate_version === 1)).toBe(true);
    }
  } finally {
    await replica.stop();
  }
});
