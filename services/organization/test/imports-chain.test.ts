import { listLocations, listScreens } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newTenant, startOrganization } from './support.ts';
import { a, countsOf, csv, exported, imported, type Row } from './support-imports.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

/** A chain of 2,000 locations, each with four zones and ten screens. */
function chainRows(): Row[] {
  const rows: Row[] = Array.from({ length: 20 }, (_, at) => a.group(`G${at}`));
  for (let at = 0; at < 2_000; at++) {
    rows.push(a.location(`L${at}`, `G${at % 20}`));
    for (let zone = 0; zone < 4; zone++) rows.push(a.zone(`L${at}-Z${zone}`, `L${at}`));
    for (let screen = 0; screen < 10; screen++) rows.push(a.screen(`L${at}-S${screen}`, `L${at}-Z${screen % 4}`));
  }
  return rows;
}

test('a chain of 2,000 locations and 20,000 screens is imported, listed while others create things, exported, and imported again', async () => {
  const tenant = await newTenant(service).withPlan();
  const rows = chainRows();
  expect(rows).toHaveLength(30_020);
  expect(countsOf(await imported(tenant.owner, csv(rows)))).toEqual([30_020, 0, 0, 0]);

  const zone = await tenant.zone((await tenant.location((await tenant.group()).id)).id);
  const building = { on: true, built: 0 };
  const build = async () => {
    for (; building.on; building.built++) {
      await tenant.location((await tenant.group()).id);
      await tenant.screen(zone.id);
    }
  };
  const builders = [build(), build()];
  const { owner } = tenant;
  const listed = await Promise.all([
    walk((query) => owner.call(listLocations, { query })),
    walk((query) => owner.call(listScreens, { query })),
  ]);
  building.on = false;
  await Promise.all(builders);
  expect(building.built).toBeGreaterThan(5);
  for (const [kind, found] of [
    ['location', listed[0]],
    ['screen', listed[1]],
  ] as const) {
    expect(new Set(found.map(({ id }) => id)).size).toBe(found.length);
    const refs = new Set(found.map(({ external_id }) => external_id));
    const lost = rows.filter((row) => row.kind === kind && !refs.has(String(row.external_id)));
    expect(lost).toEqual([]);
  }

  const whole = await exported(owner);
  const again = await imported(owner, whole);
  expect([again.rows.unchanged, ...countsOf(again)]).toEqual([again.rows.total, 0, 0, again.rows.total, 0]);
  expect(again.rows.total).toBeGreaterThan(30_020);
});

interface Listed {
  readonly id: string;
  readonly external_id: string | null;
}

/** Reads all pages. */
async function walk(
  read: (query: {
    limit: number;
    cursor?: string;
  }) => Promise<{ body: { entries: Listed[]; next_cursor: string | null } }>,
) {
  const all: Listed[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const { body } = await read({ limit: 100, ...(cursor !== undefined && { cursor }) });
    all.push(...body.entries);
    cursor = body.next_cursor;
  }
  return all;
}
