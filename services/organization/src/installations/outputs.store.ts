import type { Sql } from '@attribution/database';

interface Wired {
  readonly id: string;
  readonly location_id: string;
  readonly live: boolean;
  readonly outputs: readonly { readonly output: string; readonly screen_id: string }[];
}

export async function clearOutputs(tx: Sql, ids: readonly string[]): Promise<void> {
  await tx.$executeRaw`DELETE FROM installation_outputs WHERE installation_id = ANY(${ids})`;
}

export async function writeOutputs(tx: Sql, rows: readonly Wired[]): Promise<void> {
  const outputs = rows.flatMap(({ id, location_id, live, outputs }) =>
    outputs.map((wire) => ({ installation_id: id, location_id, live, ...wire })),
  );
  if (outputs.length === 0) return;
  await tx.$executeRaw`
    INSERT INTO installation_outputs (installation_id, location_id, live, output, screen_id)
    SELECT installation_id, location_id, live, output, screen_id
    FROM jsonb_populate_recordset(NULL::installation_outputs, ${JSON.stringify(outputs)}::jsonb)`;
}

/** Of the screens, one that the location does not have; those that it has stay there until the commit. */
export async function findMissingScreen(
  tx: Sql,
  locationId: string,
  ids: readonly string[],
): Promise<string | undefined> {
  if (ids.length === 0) return undefined;
  const found = await tx.$queryRaw<{ id: string }[]>`
    SELECT id FROM screens WHERE location_id = ${locationId} AND id = ANY(${ids}) ORDER BY id FOR KEY SHARE`;
  const known = new Set(found.map(({ id }) => id));
  return ids.find((id) => !known.has(id));
}
