import type { Sql } from '@attribution/database';
import { createTestDatabase, type TestDatabase } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { conversionOf } from '../src/performance/conversion.ts';
import { findArms } from '../src/performance/lift.store.ts';
import { measurePerformance } from '../src/performance/performance.store.ts';
import { type EventsDatabase, openEventsDatabase } from '../src/store.ts';

/** Facts are planted: what counts here is how conversions are looked for, which depends on their number. */
let own: TestDatabase;
let database: EventsDatabase;
beforeAll(async () => {
  own = await createTestDatabase('events');
  database = openEventsDatabase({ url: own.url, poolSize: 1, statementTimeout: 60_000 });
});
afterAll(async () => {
  await database.close();
  await own.drop();
});
const run = (text: string, ...values: unknown[]) => database.sql.$executeRawUnsafe(text, ...values);

const start = "timestamptz '2026-05-04T08:00:00Z'";
const facts = ['visit_facts', 'dwell_facts', 'exposure_facts', 'meeting_facts', 'play_hours'];

/** Visitors who met a campaign, half of them held back; each third comes again after a day, and into the zone `zon_1`. */
async function plant(account: string, visitors: number) {
  await run(
    `INSERT INTO known_locations (account_id, id, group_id, timezone, aggregate_version) VALUES ($1, 'loc_1', 'grp_1', 'UTC', 1)`,
    account,
  );
  await run(
    `INSERT INTO play_hours (account_id, location_id, date, hour, campaign_id, screen_id, plays, completed_plays, play_ms,
       held_plays, version) VALUES ($1, 'loc_1', '2026-05-04', 8, 'cmp_1', 'scr_1', 1, 1, 1, 1, 1)`,
    account,
  );
  await run(
    `INSERT INTO visit_facts (account_id, location_id, date, event_id, hour, visitor_key, entered_at, left_at, dwell_ms)
     SELECT $1, 'loc_1', at::date, uuidv7(), 8, 'visitor ' || n, at, at + interval '5 min', 300000
     FROM generate_series(1, $2) AS n, generate_series(0, 1) AS day, LATERAL (SELECT ${start} + day * interval '1 day' AS at)
     WHERE day = 0 OR n % 3 = 0`,
    account,
    visitors,
  );
  const ofVisits = (columns: string, where: string) =>
    `SELECT $1, location_id, date, event_id, ${columns} FROM visit_facts WHERE account_id = $1 AND ${where}`;
  await run(
    `INSERT INTO dwell_facts (account_id, location_id, date, event_id, zone_id, entered_at, visitor_key, dwell_ms)
     ${ofVisits("'zon_1', entered_at, visitor_key, dwell_ms", `entered_at > ${start}`)}`,
    account,
  );
  await run(
    `INSERT INTO exposure_facts (account_id, location_id, date, event_id, campaign_id, visitor_key, first_at, first_date,
       first_hour, exposure_ms, left_at)
     ${ofVisits("'cmp_1', visitor_key, entered_at, date, hour, 1000, left_at", `entered_at = ${start}`)}`,
    account,
  );
  await run(
    `INSERT INTO meeting_facts (account_id, location_id, date, event_id, campaign_id, held, met_date, met_hour, visitor_key,
       first_at, pairs, left_at)
     ${ofVisits(
       `'cmp_1', substr(visitor_key, 9)::int % 2 = 0, date, hour, visitor_key, entered_at, 1, left_at`,
       `entered_at = ${start}`,
     )}`,
    account,
  );
}

type Pages = Readonly<Record<'Shared Hit Blocks' | 'Shared Read Blocks', number>>;

/** The database as a store takes it. Counts the pages that its statements read. */
function counting() {
  let pages = 0;
  const tx = {
    async $queryRawUnsafe(text: string, ...values: unknown[]) {
      const [explained] = await database.sql.$queryRawUnsafe<{ 'QUERY PLAN': { Plan: Pages }[] }[]>(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${text}`,
        ...values,
      );
      const plan = explained?.['QUERY PLAN'][0]?.Plan as Pages;
      pages += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
      return database.sql.$queryRawUnsafe(text, ...values);
    },
  } as unknown as Sql;
  return { tx, pages: () => pages };
}

async function ask(tx: Sql, accountId: string, query: { window: string; target_zone_ids?: string[] }) {
  const scope = { accountId, visibleGroups: null, locationIds: null, groupIds: null, from: null, to: null };
  const about = { campaignId: 'cmp_1', conversion: conversionOf(query), now: new Date('2026-06-01T00:00:00Z') };
  const { exposed, control } = await findArms(tx, scope, about);
  const { ripe_visits, converted_visits } = await measurePerformance(tx, scope, about);
  return {
    arms: [exposed, control].map(({ visitors, converted }) => [visitors, converted]),
    visits: [ripe_visits, converted_visits],
  };
}

const questions = [{ window: '2d' }, { window: '2d', target_zone_ids: ['zon_1'] }];

test.each([600, 21_000])('%i visitors convert alike by returning and by a zone', async (visitors) => {
  const account = `acc_${visitors}`;
  await plant(account, visitors);
  const arm = [visitors / 2, visitors / 6];
  for (const question of questions)
    expect(await ask(database.sql, account, question)).toMatchObject({
      arms: [arm, arm],
      visits: [visitors, visitors / 3],
    });
  expect(await ask(database.sql, account, { window: '2h' })).toMatchObject({ visits: [visitors, 0] });
});

test('few visitors are looked up one by one, even where Postgres takes the tables for empty', async () => {
  await plant('acc_gone', 1_000);
  for (const table of facts) await run(`DELETE FROM ${table}`);
  await run('ANALYZE');
  const visitors = 1_500;
  await plant('acc_young', visitors);
  for (const question of questions) {
    const { tx, pages } = counting();
    const { visits } = await ask(tx, 'acc_young', question);
    expect(visits).toEqual([visitors, visitors / 3]);
    // Twice for each visitor, with the pages of an index above them; each with each other would be a million.
    expect(pages()).toBeLessThan(30 * visitors);
  }
});
