import { readAudits } from '../crash/check/audit.ts';
import { checkCauses, checkEffects, checkOrder } from '../crash/check/check-events.ts';
import { checkTopics } from '../crash/check/check-topics.ts';
import { type Databases, rowsOf } from '../crash/check/databases.ts';
import { untilQuiet } from '../crash/check/quiet.ts';
import { newTally } from '../crash/check/tally.ts';
import type { Published } from '../crash/check/topics.ts';
import type { Acknowledged } from './traffic.ts';

export interface Verdict {
  readonly text: string;
  readonly clean: boolean;
  /** Milliseconds until every event had taken effect. */
  readonly caughtUp: number;
}

/**
 * Waits up to `timeoutMs` until every event has taken effect, and compares the audited databases with what was
 * acknowledged, and each event with its effects.
 */
export async function judge(options: {
  readonly databases: Databases;
  readonly acknowledged: Acknowledged;
  readonly timeoutMs: number;
  /** Reads all messages on the topics, if there is a broker. */
  readonly published?: () => Promise<readonly Published[]>;
  readonly say: (line: string) => void;
}): Promise<Verdict> {
  const { databases, acknowledged, say } = options;
  const started = performance.now();
  const { waiting, deadLetters } = await untilQuiet(databases, options.timeoutMs);
  const caughtUp = performance.now() - started;
  const tally = newTally();
  const audits = await readAudits(databases);
  checkCauses(audits, tally);
  const effects = checkEffects(audits, tally);
  checkOrder(audits, tally);
  if (options.published) checkTopics(audits, await options.published(), tally);
  tally.lost.push(...(await missing(databases, acknowledged)));

  for (const [name, lines] of Object.entries(tally)) for (const line of lines.slice(0, 5)) say(`  ${name}: ${line}`);
  const { lost, doubled, reordered, torn } = tally;
  const counts = [
    `lost ${lost.length}, doubled ${doubled.length}, reordered ${reordered.length}, half-written ${torn.length}`,
    `given up ${deadLetters}, waiting ${waiting}`,
  ];
  const wrong = [lost, doubled, reordered, torn].flat().length + deadLetters + waiting;
  return { text: `${counts.join(', ')} (${effects} effects)`, clean: wrong === 0 && effects > 0, caughtUp };
}

/** Describes what was acknowledged but is missing, and the groups whose deletion was acknowledged but which still exist. */
async function missing(databases: Databases, acknowledged: Acknowledged): Promise<string[]> {
  const ids = async (service: string, table: string) =>
    new Set((await rowsOf<{ id: string }>(databases[service] ?? '', `SELECT id FROM ${table}`)).map(({ id }) => id));
  const absent = (wanted: Iterable<string>, there: Set<string>) => [...wanted].filter((id) => !there.has(id));
  const groups = await ids('organization', 'groups');
  return [
    ...absent(acknowledged.accounts, await ids('account', 'accounts')),
    ...absent(acknowledged.groups, groups),
    ...absent(acknowledged.campaigns, await ids('campaign', 'campaigns')),
    ...[...acknowledged.deletedGroups].filter((id) => groups.has(id)).map((id) => `the deletion of ${id}`),
  ];
}
