/**
 * A planted fault, preloaded into the platform: the first group of a new account is written on another connection, outside
 * the transaction of its inbox row. When that is rolled back, the group stays, and the redelivered event adds another.
 */
import pg from 'pg';
import { wrapQuery } from './wrap-query.ts';

const marked = new WeakSet<object>();
const pools = new Map<string, pg.Pool>();

wrapQuery(pg.Client.prototype, (client, text, args, plain) => {
  if (/^\s*(begin|commit|rollback)/i.test(text)) marked.delete(client);
  if (/insert\s+into\s+"?inbox\b/i.test(text)) marked.add(client);
  const isEffect = marked.has(client) && /\binsert\s+into\s+"?groups\b/i.test(text);
  if (!isEffect) return plain.apply(client, args);
  return outside(client as pg.Client).then(async (other) => {
    try {
      return await plain.apply(other, args);
    } finally {
      other.release();
    }
  });
});

function outside({ host, port, user, password, database }: pg.Client): Promise<pg.PoolClient> {
  const name = `${host}:${port}/${database}`;
  const pool = pools.get(name) ?? new pg.Pool({ host, port, user, password: password ?? '', database, max: 4 });
  pools.set(name, pool);
  return pool.connect();
}
