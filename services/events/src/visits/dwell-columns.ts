import { sql } from 'kysely';

/** Of the column `dwell_ms` of a group, null without rows: the mean, rounded half up in whole numbers. */
export const meanDwell = sql<number | null>`div(2 * sum(dwell_ms) + count(*), nullif(2 * count(*), 0))::float8`;

/** A value that occurs, the nearest rank. */
const quantile = (share: number) =>
  sql<number | null>`percentile_disc(${sql.lit(share)}) WITHIN GROUP (ORDER BY dwell_ms)::float8`;
export const medianDwell = quantile(0.5);
export const p90Dwell = quantile(0.9);
