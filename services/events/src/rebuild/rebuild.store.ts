import type { Sql } from '@attribution/database';
import type { Begun } from './days.ts';

/** A location of which there are items, and when the first and the last of these began, in milliseconds since the epoch. */
export interface Filled {
  readonly id: string;
  readonly timezone: string;
  readonly first: number;
  readonly last: number;
}

const ms = (value: string) => `(extract(epoch FROM ${value}) * 1000)::float8`;
const ends = (which: 'min' | 'max') =>
  ['visits entered_at', 'plays started_at']
    .map((pair) => pair.split(' '))
    .map(
      ([table, column]) =>
        `(SELECT ${which}(${column}) FROM ${table} WHERE account_id = $1 AND location_id = known.id)`,
    )
    .join(', ');

export const findFilled = async (tx: Sql, accountId: string, ids: readonly string[] | null): Promise<Filled[]> =>
  tx.$queryRawUnsafe(
    `SELECT id, timezone, ${ms('first')} AS first, ${ms('last')} AS last FROM (
       SELECT id, timezone, least(${ends('min')}) AS first, greatest(${ends('max')}) AS last
       FROM known_locations AS known WHERE account_id = $1 AND ($2::text[] IS NULL OR id = ANY($2::text[]))
     ) AS filled WHERE first IS NOT NULL ORDER BY timezone, id`,
    accountId,
    ids,
  );

const oneOf = (table: string, column: string, order: 'ASC' | 'DESC') => `
  (SELECT ${column} AS at FROM ${table}
   WHERE account_id = $1 AND location_id = place.id AND ${column} >= day.begin AND ${column} < day.ending
   ORDER BY ${column} ${order} LIMIT 1)`;

/** The first and the last visit and play in each location that began between each two bounds, in milliseconds since the epoch. */
export const findBegun = async (
  tx: Sql,
  accountId: string,
  ids: readonly string[],
  bounds: readonly number[],
): Promise<Begun[]> =>
  tx.$queryRawUnsafe(
    `SELECT place.id AS location_id, ${ms('item.at')} AS at
     FROM unnest($2::text[]) AS place(id), unnest($3::timestamptz[], $4::timestamptz[]) AS day(begin, ending), LATERAL (
       ${oneOf('visits', 'entered_at', 'ASC')} UNION ALL ${oneOf('visits', 'entered_at', 'DESC')} UNION ALL
       ${oneOf('plays', 'started_at', 'ASC')} UNION ALL ${oneOf('plays', 'started_at', 'DESC')}
     ) AS item ORDER BY 1, 2`,
    accountId,
    ids,
    bounds.slice(0, -1).map((at) => new Date(at)),
    bounds.slice(1).map((at) => new Date(at)),
  );
