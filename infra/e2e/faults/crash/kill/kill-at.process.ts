/**
 * Preloaded into the platform (`--import`) and armed by SIGUSR2: kills the process with SIGKILL before it sends a certain
 * statement to Postgres, or after the response. The platform has no code for this.
 */
import { writeSync } from 'node:fs';
import pg from 'pg';
import { watchQueries } from './watch-queries.ts';

const { searchParams } = new URL(import.meta.url);
const before = searchParams.get('before');
const after = searchParams.get('after');
/** Kills after the commit of the transaction that contains this statement. */
const committed = searchParams.get('committed');

let armed = false;
process.on('SIGUSR2', () => {
  armed = true;
});

function kill(why: string): void {
  if (!armed) return;
  writeSync(2, `Killed ${why}\n`);
  process.kill(process.pid, 'SIGKILL');
}

const inTransaction = new WeakSet<object>();
/** Kysely quotes the names of tables and columns; statements that are written by hand do not. */
const has = (part: string | null, text: string) =>
  part !== null && text.toLowerCase().replaceAll('"', '').includes(part);
/** The relay's statement both deletes the acknowledged events and reads the next ones; mostly it deletes none. */
const isNone = ([first]: readonly unknown[]) => Array.isArray(first) && first.length === 0;

watchQueries(pg.Client.prototype, {
  before(_client, text, values) {
    if (has(before, text) && !isNone(values)) kill(`before ${before}`);
  },
  after(client, text) {
    if (has(after, text)) kill(`after ${after}`);
    if (has(committed, text)) inTransaction.add(client);
    if (/^\s*commit/i.test(text) && inTransaction.has(client)) kill(`after the commit of ${committed}`);
    if (/^\s*rollback/i.test(text)) inTransaction.delete(client);
  },
});
