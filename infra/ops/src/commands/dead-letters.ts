import type pg from 'pg';
import { type Call, command, dryRun } from '../command.ts';
import { connected } from '../connect.ts';
import { eachPlace, plural } from '../each-place.ts';
import { follow } from '../follow.ts';
import { readCount } from '../numbers.ts';
import type { Place } from '../places.ts';
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

list: what lies there, the oldest first. show: one, with its event. replay: has some of them, or all, handled again by the
service itself, each in one transaction with its end; so that doing it twice does it once.

  --limit     how many of each service are listed
  --wait      seconds to wait for how it went; 0: does not wait
  --dry-run   says which would be replayed, and asks for none`,
  verbs: ['list', 'show', 'replay'],
  options,
  async run(call) {
    if (call.verb === 'list') return list(call);
    const { service, words } = call;
    if (service === undefined) throw misused(`Say whose: \`ops dead-letters ${call.verb} <service>\`.`);
    const ids = [...new Set(words.map(readId))];
    const [place] = await call.places();
    if (!place) throw misused(`There is no database of ${service}.`);
    return connected(place.url, (pool) => (call.verb === 'show' ? show(call, pool, ids) : replay(call, pool, ids)));
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
  return eachPlace(call, await call.places(), ({ service, url }: Place) =>
    connected(url, async (pool) => {
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

/** Those that are asked for; all of them where none is named. Throws `Refusal` for one that does not lie there. */
async function findAsked(pool: pg.Pool, ids: readonly string[]): Promise<Letter[]> {
  const letters = await findLetters(pool, ids.length > 0 ? { ids } : {});
  const missing = ids.filter((id) => !letters.some((letter) => letter.id === id));
  if (missing.length === 0) return letters;
  throw new Refusal('not found', `${missing.join(', ')}: lies there no more, or never did. Nothing was replayed.`);
}

async function show({ say, words }: Call<Values>, pool: pg.Pool, ids: readonly string[]): Promise<boolean> {
  const [id] = ids;
  if (id === undefined || words.length > 1) throw misused('`ops dead-letters show <service> <id>` takes one id.');
  for (const letter of await findAsked(pool, ids)) {
    say(lineOf(letter).trim());
    say(`from ${letter.topic}`);
    say(JSON.stringify(withoutSecrets(await findEnvelope(pool, id)), null, 2));
  }
  return true;
}

async function replay(call: Call<Values>, pool: pg.Pool, ids: readonly string[]): Promise<boolean> {
  const { service, values, say, note, stopping } = call;
  const patience = readCount('--wait', values.wait) * 1_000;
  const letters = await findAsked(pool, ids);
  if (values['dry-run']) {
    say(`${service}: ${plural(letters.length, 'dead letter')} would be replayed`);
    for (const letter of letters) say(lineOf(letter));
    return true;
  }
  const asked = letters.map(({ id }) => id);
  await requestReplay(pool, asked);
  note(`· ${service}: asked for ${plural(asked.length, 'dead letter')} to be replayed`);
  if (patience === 0) return true;

  let said = asked.length;
  const left = await follow({
    look: () => findLetters(pool, { ids: asked }),
    isDone: (seen) => seen.every(({ waits }) => !waits),
    tell(seen) {
      const waiting = seen.filter(({ waits }) => waits).length;
      if (waiting < said && waiting > 0) note(`· ${service}: ${waiting} wait`);
      said = waiting;
    },
    patience,
    stopping,
  });
  const failed = left.filter(({ waits }) => !waits);
  const waiting = left.length - failed.length;
  for (const letter of failed) say(lineOf(letter));
  say(`${service}: ${asked.length - left.length} replayed, ${failed.length} failed again, ${waiting} wait`);
  if (waiting > 0) note('What waits is handled as soon as a worker of the service runs.');
  return left.length === 0;
}
