import { newId } from '@attribution/ids';
import type { BenchDatabase } from '../database.ts';

/** Totals of an estate. Locations are distributed evenly over groups, zones over locations, and screens over zones. */
export interface EstateSize {
  readonly groups: number;
  readonly locations: number;
  readonly zones: number;
  readonly screens: number;
}

/** Creates an account with an estate of that size. Returns the account and its groups. */
export async function seedEstate(
  database: BenchDatabase,
  size: EstateSize,
): Promise<{ account: string; groups: string[] }> {
  const account = newId('account');
  const groups = Array.from({ length: size.groups }, () => newId('group'));
  await database.sql(
    `INSERT INTO groups (id, account_id, name, created_at, updated_at)
     SELECT id, $1, 'Group', now(), now() FROM unnest($2::text[]) AS id`,
    [account, groups],
  );
  await database.sql(
    `INSERT INTO locations (id, account_id, group_id, name, timezone, created_at, updated_at)
     SELECT 'loc_' || uuidv7(), $1, ($2::text[])[1 + n % cardinality($2)], 'Location ' || n, 'Europe/Zurich', now(), now()
     FROM generate_series(1, $3::int) AS n`,
    [account, groups, size.locations],
  );
  await distribute(database, account, 'locations', size, size.zones, {
    into: `zones (id, account_id, group_id, location_id, name, kind, created_at, updated_at)`,
    select: `'zon_' || uuidv7(), $1, a.group_id, a.id, 'Zone', 'window', now(), now()`,
  });
  await distribute(database, account, 'zones', size, size.screens, {
    into: `screens (id, account_id, group_id, location_id, zone_id, name, tags, width_px, height_px, orientation,
      accepted_formats, audio, created_at, updated_at)`,
    select: `'scr_' || uuidv7(), $1, a.group_id, a.location_id, a.id, 'Screen',
      ARRAY['tag' || n % 10, 'window'], 1920, 1080, 'landscape', ARRAY['image/png'], false, now(), now()`,
  });
  await database.sql('VACUUM ANALYZE');
  return { account, groups };
}

/** Inserts `count` rows, distributed evenly over the rows of `above`. */
async function distribute(
  database: BenchDatabase,
  account: string,
  above: 'locations' | 'zones',
  size: EstateSize,
  count: number,
  { into, select }: { into: string; select: string },
): Promise<void> {
  await database.sql(
    `WITH above AS (SELECT *, row_number() OVER (ORDER BY id) - 1 AS at FROM ${above} WHERE account_id = $1)
     INSERT INTO ${into} SELECT ${select} FROM generate_series(0, $2::int - 1) AS n JOIN above AS a ON a.at = n % $3::int`,
    [account, count, size[above]],
  );
}
