import type { Envelope } from '@attribution/contracts';
import type { SqlTransaction } from '@attribution/database';

/**
 * In the order of ids, so that two transactions that share some cannot deadlock on them: the second waits for the
 * first, and then leaves out what that has committed. Ids go there as one text, which Prisma need not look
 * into, and come back only when some were marked before.
 */
const insertMarks = `
  WITH marked AS (
    INSERT INTO inbox (consumer, event_id) SELECT $1, id FROM unnest(string_to_array($2, ' ')::uuid[]) AS id ORDER BY id
    ON CONFLICT DO NOTHING RETURNING event_id
  )
  SELECT count(*)::int AS count, CASE WHEN count(*) < $3 THEN string_agg(event_id::text, ' ') END AS ids FROM marked`;

/** Marks events as done by the consumer, in the transaction of their effects; returns those that were not, in order. */
export async function markDone(
  tx: SqlTransaction,
  consumer: string,
  envelopes: readonly Envelope[],
): Promise<Envelope[]> {
  const byId = new Map<string, Envelope>();
  for (const envelope of envelopes) {
    const id = envelope.event_id.toLowerCase(); // As the database writes it.
    if (!byId.has(id)) byId.set(id, envelope);
  }
  const [marked] = await tx.$queryRawUnsafe<{ count: number; ids: string | null }[]>(
    insertMarks,
    consumer,
    [...byId.keys()].join(' '),
    byId.size,
  );
  if (marked?.count === byId.size) return [...byId.values()];
  const ids = new Set(marked?.ids?.split(' '));
  return [...byId].filter(([id]) => ids.has(id)).map(([, envelope]) => envelope);
}
