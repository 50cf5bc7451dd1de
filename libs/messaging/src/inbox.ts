import type { Envelope } from '@attribution/contracts';
import type { SqlTransaction } from '@attribution/database';

/**
 * In the order of ids, so that two transactions that share some cannot deadlock on them: the second waits for the
 * first, and then leaves out what that has committed. Ids are sent as one text, which Prisma need not parse, and
 * returned only when some were there before.
 */
const insertRows = `
  WITH inserted AS (
    INSERT INTO inbox (consumer, event_id) SELECT $1, id FROM unnest(string_to_array($2, ' ')::uuid[]) AS id ORDER BY id
    ON CONFLICT DO NOTHING RETURNING event_id
  )
  SELECT count(*)::int AS count, CASE WHEN count(*) < $3 THEN string_agg(event_id::text, ' ') END AS ids FROM inserted`;

/** Inserts events into the inbox, in the transaction of their effects; returns those that were not in it, in order. */
export async function insertInboxRows(
  tx: SqlTransaction,
  consumer: string,
  envelopes: readonly Envelope[],
): Promise<Envelope[]> {
  const byId = new Map<string, Envelope>();
  for (const envelope of envelopes) {
    const id = envelope.event_id.toLowerCase(); // As the database writes it.
    if (!byId.has(id)) byId.set(id, envelope);
  }
  const [inserted] = await tx.$queryRawUnsafe<{ count: number; ids: string | null }[]>(
    insertRows,
    consumer,
    [...byId.keys()].join(' '),
    byId.size,
  );
  if (inserted?.count === byId.size) return [...byId.values()];
  const ids = new Set(inserted?.ids?.split(' '));
  return [...byId].filter(([id]) => ids.has(id)).map(([, envelope]) => envelope);
}
