import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { deleteBatches, findBatches, findDoneUnits, findGroupRows } from '../src/imports/batch.store.ts';
import { lockImport } from '../src/imports/import.store.ts';
import { findFaulty } from '../src/imports/refused-row.store.ts';
import { type OrganizationDatabase, openOrganizationDatabase } from '../src/store.ts';
import { startOrganization } from './support.ts';

let service: TestService;
let database: OrganizationDatabase;
beforeAll(async () => {
  service = await startOrganization();
  // One connection, so that all its statements are prepared on it.
  database = openOrganizationDatabase({ url: service.db.options.connectionString ?? '', poolSize: 1 });
});
afterAll(async () => {
  await database.close();
  await service.stop();
});

const count = 40_000;
const units = Array.from({ length: 1_500 }, (_, at) => at);
const refs = units.map((at) => `G${at}`);

/** Runs the statements for a transaction of 1,500 rows. */
async function runStatements(id: string) {
  const { sql } = database;
  const batches = await findBatches(sql, id, { groups: true, batch: -1 }, units.length);
  const done = await findDoneUnits(sql, id, units);
  const faulty = await findFaulty(sql, id, units);
  const groups = await database.sqlTransaction(async (tx) => {
    await lockImport(tx, id);
    return findGroupRows(tx, id, refs);
  });
  await deleteBatches(sql, id, { groups: true, from: 0, to: 9, kept: [3] });
  return [batches.length, done.size, faulty.size, groups.length];
}

test('the statements of large imports stay quick on a connection that planned them while the tables were empty', async () => {
  const id = newId('job');
  for (const table of ['lots', 'units', 'rows']) await service.db.query(`VACUUM ANALYZE estate_import_${table}`);
  // From the sixth use of a statement on, Postgres keeps a generic plan.
  for (let at = 0; at < 8; at++) expect(await runStatements(id)).toEqual([0, 0, 0, 0]);
  await service.db.query(`
    INSERT INTO estate_import_lots (import_id, groups, lot, piece, ref, size, rows)
      SELECT '${id}', true, at, 0, 'G' || at, 1, json_build_array(json_build_object('unit', at)) FROM generate_series(0, ${count - 1}) at;
    INSERT INTO estate_import_units (import_id, unit) SELECT '${id}', at FROM generate_series(0, ${count - 1}) at;
    INSERT INTO estate_import_rows (import_id, row, kind, external_id, unit, reason)
      SELECT '${id}', at, 'group', 'G' || at, at, 'No' FROM generate_series(0, ${count - 1}) at`);
  // A statement that compared everything with everything would exceed its timeout.
  expect(await runStatements(id)).toEqual([1_500, 1_500, 1_500, 1_500]);
  expect((await findBatches(database.sql, id, { groups: true, batch: -1 }, 3)).map(({ batch }) => batch)).toEqual([
    3, 10, 11,
  ]);
});
