/** A planted fault, preloaded into the platform: the relay deletes events from the outbox when it reads them. */
import pg from 'pg';
import { wrapQuery } from './wrap-query.ts';

wrapQuery(pg.Client.prototype, async (client, text, args, plain) => {
  const result = await plain.apply(client, args);
  if (!/\bevent_id\b.*\bfrom\s+"?outbox\b/is.test(text) || /insert\s+into/i.test(text)) return result;
  const { rows } = result as { rows: readonly { event_id: string }[] };
  const ids = rows.map(({ event_id }) => event_id);
  if (ids.length > 0) await plain.call(client, 'DELETE FROM outbox WHERE event_id = ANY($1::uuid[])', [ids]);
  return result;
});
