import type pg from 'pg';
import { type Call, command, dryRun } from '../command.ts';
import { withDatabase } from '../connect.ts';
import type { ServiceDatabase } from '../databases.ts';
import { eachDatabase, plural } from '../each-database.ts';
import { readCount } from '../numbers.ts';
import { pollUntil } from '../poll-until.ts';
import { withoutSecrets } from '../redact.ts';
import { misused, Refusal } from '../refusal.ts';
import { countByType, findEnvelope, findLetters, type Letter, requestReplay } from './dead-letters.store.ts';

const options = {
  ...dryRun,
  limit: { type: 'string', default: '100' },
  wait: { type: 'string', default: '30' },
} as const;
type Values = { readonly 'dry-run': boolean; readonly limit: string; readonly wait: string };

export const deadLetters = command({
  name: 'dead-letters',
  summary: 'list, show, replay: events that could not be handled',
  help: `Usage: ops dead-letters list [service] [--limit 100]
       ops dead-letters show <service> <id>
       ops dead-letters replay <service> [id…] [--dry-run] [--wait 30]

list: the dead letters, the oldest first. show: one of them, with its event. replay: the service's worker handles some of
them, or all, again. It deletes each in the transaction of its effect, so replaying twice takes effect once.

  --limit     how many are listed for each service
  --wait      seconds to wait for the outcome; 0 does not wait
  --dry-run   lists what would be replayed and requests nothing`,
  verbs: ['list', 'show', 'replay'],
  options,
  async run(call) {
    if (call.verb === 'list') return list(call);
    const { service, words } = call;
    if (service === undefined) throw misused(`Name the service: \`ops dead-letters ${call.verb} <service>\`.`);
    const ids = [...new Set(words.map(readId))];
    const [database] = await call.databases();
    if (!database) throw misused(`There is no database of ${service}.`);
    return withDatabase(database.url, (pool) =>
      call.verb === 'show' ? show(call, pool, ids) : replay(call, pool, ids),
    );
  },
});

function readId(text: string): string {
  if (/^\d{1,18}$/.test(text)) return text;
  throw misused(`An id is the number that list shows, not ${text}.`);
}

const lineOf = ({ id, failed_at, type, event_id, attempts, error, waits }: Letter) =>
  `  ${id}  ${failed_at.toISOString()}  ${type}  ${event_id}  ${plural(attempts, 'attempt')}${waits ? ', to be replayed' : ''}: ${error}`;

async function list(call: Call<Values>): Promise<boolean> {
  const limit = readCount('--limit', call.values.limit);
  return eachDatabase(call, await call.databases(), ({ service, url }: ServiceDatabase) =>
    withDatabase(url, async (pool) => {
      const types = await countByType(pool);
      const total = types.reduce((sum, { count }) => sum + count, 0);
      const kinds = types.map(({ type, count }) => `${count} ${type}`).join(', ');
      call.say(`${service}: ${total === 0 ? 'no dead letters' : `${plural(total, 'dead letter')} (${kinds})`}`);
      for (const letter of await findLetters(pool, { limit })) call.say(lineOf(letter));
      if (total > limit) call.say(`  … and ${total - limit} more (--limit)`);
      return true;
    }),
  );
}

/** The letters with the ids, or all when there are no ids. Throws `Refusal` if one of the ids does not exist. */
async function findNamed(pool: pg.Pool, ids: readonly string[]): Promise<Letter[]> {
  const letters = await findLetters(pool, ids.length > 0 ? { ids } : {});
  const missing = ids.filter((id) => !letters.some((letter) => letter.id === id));
  if (missing.length === 0) return letters;
  throw new Refusal('not found', `${missing.join(', ')}: no such dead letter, or not any more. Nothing was replayed.`);
}

async function show({ say, words }: Call<Values>, pool: pg.Pool, ids: readonly string[]): Promise<boolean> {
  const [id] = ids;
  if (id === undefined || words.length > 1) throw misused('`ops dead-letters show <service> <id>` takes one id.');
  for (const letter of await findNamed(pool, ids)) {
    say(lineOf(letter).trim());
    say(`from ${letter.topic}`);
    say(JSON.stringify(withoutSecrets(await findEnvelope(pool, id)), null, 2));
  }
  return true;
}

async function replay(call: Call<Values>, pool: pg.Pool, ids: readonly string[]): Promise<boolean> {
  const { service, values, say, note, stopping } = call;
  const timeoutMs = readCount('--wait', values.wait) * 1_000;
  const letters = await findNamed(pool, ids);
  if (values['dry-run']) {
    say(`${service}: ${plural(letters.length, 'dead letter')} would be replayed`);
    for (const letter of letters) say(lineOf(letter));
    return true;
  }
  const requested = letters.map(({ id }) => id);
  await requestReplay(pool, requested);
  note(`· ${service}: requested the replay of ${plural(requested.length, 'dead letter')}`);
  if (timeoutMs === 0) return true;

  let lastWaiting = requested.length;
  const remaining = await pollUntil({
    read: () => findLetters(pool, { ids: requested }),
    isDone: (letters) => letters.every(({ waits }) => !waits),
    onRead(letters) {
      const waiting = letters.filter(({ waits }) => waits).length;
      if (waiting < lastWaiting && waiting > 0) note(`· ${service}: ${waiting} wait`);
      lastWaiting = waiting;
    },
    timeoutMs,
    stopping,
  });
  const failed = remaining.filter(({ waits }) => !waits);
  const waiting = remaining.length - failed.length;
  for (const letter of failed) say(lineOf(letter));
  say(`${service}: ${requested.length - remaining.length} replayed, ${failed.length} failed again, ${waiting} wait`);
  if (waiting > 0) note('They are handled as soon as a worker of the service runs.');
  return remaining.length === 0;
}
