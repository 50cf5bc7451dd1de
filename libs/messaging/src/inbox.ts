import type { Envelope } from '@attribution/contracts';
import type { SqlTransaction } from '@attribution/database';

/**
 * In the order of ids, so that two transactions that share some cannot deadlock on them: the second waits for the
 * first, and then leaves out what that has committed. Ids go there and back as one text, which Prisma need not look into.
 */
const insertMarks = `
  WITH marked AS (
    INSERT INTO inbox (consumer, event_id) SELECT $1, id FROM unnest(string_to_array($2, ' ')::uuid[]) AS id ORDER BY id
    ON CONFLICT DO NOTHING RETURNING event_id
  )
  SELECT string_agg(event_id::text, ' ') AS ids FROM marked`;

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
  const [row] = await tx.$queryRawUnsafe<{ ids: string | null }[]>(insertMarks, consumer, [...byId.keys()].join(' '));
  const marked = new Set(row?.ids?.split(' '));
  return [...byId].filter(([id]) => marked.has(id)).map(([, envelope]) => envelope);
}
