import type { Sql } from '@attribution/database';

interface RowWithOutputs {
  readonly id: string;
  readonly location_id: string;
  readonly live: boolean;
  readonly outputs: readonly { readonly output: string; readonly screen_id: string }[];
}

export async function clearOutputs(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx.$executeRaw`DELETE FROM installation_outputs WHERE installation_id = ANY(${ids})`;
}

export async function writeOutputs(tx: Sql, rows: readonly RowWithOutputs[]): Promise<void> {
  const outputs = rows.flatMap(({ id, location_id, live, outputs }) =>
    outputs.map((wire) => ({ installation_id: id, location_id, live, ...wire })),
  );
  if (outputs.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO installation_outputs (installation_id, location_id, live, output, screen_id)
    SELECT installation_id, location_id, live, output, screen_id
    FROM jsonb_populate_recordset(NULL::installation_outputs, ${JSON.stringify(outputs)}::jsonb)`;
}

/** The namespace of the advisory locks of screens. */
const lockNamespace = 4;

/**
 * Returns the first of the screens that the location does not have; those that it has are locked until the commit. First
 * it takes advisory locks on these screens and on those `before`, all in one order. Otherwise two installations that swap
 * their screens would deadlock, each waiting for the screen that the other is about to release.
 */
export async function findMissingScreen(
  tx: Sql,
  locationId: string,
  ids: readonly string[],
  before: readonly string[],
): Promise<string | undefined> {
  if (ids.length === 0) return undefined;
  const found = await tx.$queryRaw<{ id: string }[]>`
    WITH locks AS MATERIALIZED (
      SELECT pg_advisory_xact_lock(key) FROM (
        SELECT DISTINCT hashtextextended(id, ${lockNamespace}) AS key FROM unnest(${[...ids, ...before]}::text[]) AS screen (id) ORDER BY key
      ) AS ordered
    )
    SELECT id FROM screens
    WHERE location_id = ${locationId} AND id = ANY(${ids}) AND (SELECT count(*) FROM locks) > 0
    ORDER BY id FOR KEY SHARE`;
  const known = new Set(found.map(({ id }) => id));
  return ids.find((id) => !known.has(id));
}
