import type { Finding } from '../../experiment.ts';
import type { Ledger } from '../load/ledger.ts';
import type { MailFolder } from '../load/mail-folder.ts';
import { readAudits } from './audit.ts';
import { allAppended, checkAnswers, checkCauses, checkEffects, checkOrder } from './check-events.ts';
import { checkProjections } from './check-projections.ts';
import { checkPurchases, untilPaid } from './check-purchases.ts';
import { checkRows } from './check-rows.ts';
import { checkTopics } from './check-topics.ts';
import type { Databases } from './databases.ts';
import { untilQuiet } from './quiet.ts';
import { newTally, type Tally } from './tally.ts';
import type { Published } from './topics.ts';

/** The group of a killed consumer waits for its session to expire, and so may the next one. */
const defaultTimeoutMs = 60_000;

export interface Checked extends Pick<Finding, 'found' | 'bar' | 'holds'> {
  readonly lost: number;
  readonly doubled: number;
  readonly reordered: number;
  readonly torn: number;
}

export interface CheckOptions {
  readonly databases: Databases;
  readonly mail: MailFolder;
  readonly ledger: Ledger;
  readonly say: (line: string) => void;
  /** Reads all messages on the topics, if there is a broker. */
  readonly published?: (() => Promise<readonly Published[]>) | undefined;
  /** Default: a minute. */
  readonly timeoutMs?: number;
}

/** The state of the platform once it has caught up. */
export interface Inspected {
  readonly tally: Tally;
  /** As in `Quiet`. */
  readonly waiting: number;
  readonly deadLetters: number;
  readonly events: number;
  readonly effects: number;
  readonly redelivered: number;
}

/** Waits until all processes have caught up, and compares the databases with what was acknowledged. */
export async function inspect(options: Omit<CheckOptions, 'say'>): Promise<Inspected> {
  const { databases, mail, ledger, timeoutMs = defaultTimeoutMs } = options;
  await untilPaid(ledger, databases, timeoutMs);
  const { waiting, deadLetters } = await untilQuiet(databases, timeoutMs);
  const audits = await readAudits(databases);
  const tally = newTally();
  await checkRows(ledger, databases, mail, tally);
  await checkPurchases(ledger, databases, tally);
  checkCauses(audits, tally);
  const effects = checkEffects(audits, tally) + (await checkProjections(audits, databases, tally));
  checkOrder(audits, tally);
  checkAnswers(ledger, audits, tally);
  if (options.published) checkTopics(audits, await options.published(), tally);
  const redelivered = [...audits.values()].reduce((sum, audit) => sum + audit.redelivered, 0);
  return { tally, waiting, deadLetters, events: allAppended(audits).length, effects, redelivered };
}

/** Inspects the platform, logs what is wrong, and summarizes the result for a finding. */
export async function check(options: CheckOptions): Promise<Checked> {
  const { ledger, say } = options;
  const { tally, waiting, deadLetters, events, effects, redelivered } = await inspect(options);
  const { lost, doubled, reordered, torn } = tally;
  for (const [name, lines] of Object.entries({ ...tally, violations: ledger.violations }))
    for (const line of lines.slice(0, 5)) say(`  ${name}: ${line}`);
  const { acknowledged, unknown } = ledger.counts;
  const wrong = [lost, doubled, reordered, torn, ledger.violations].flat().length + waiting + deadLetters;
  const numbers = [
    `lost ${lost.length}, doubled ${doubled.length}, reordered ${reordered.length}, half-written ${torn.length}`,
    ...(waiting > 0 ? [`${waiting} events still wait`] : []),
    ...(deadLetters > 0 ? [`${deadLetters} dead letters`] : []),
    ...(ledger.violations.length > 0
      ? [`${ledger.violations.length} answers against the contract, the first: ${ledger.violations[0]}`]
      : []),
  ].join(', ');
  const paid = ledger.purchases.filter(({ outcome }) => outcome === 'acknowledged').length;
  return {
    lost: lost.length,
    doubled: doubled.length,
    reordered: reordered.length,
    torn: torn.length,
    found: `${numbers} (${acknowledged} acknowledged, ${paid} of them payments, ${unknown} without an answer, ${events} events, ${effects} effects, ${redelivered} came again)`,
    bar: 'none',
    // A load that did nothing would prove nothing.
    holds: wrong === 0 && acknowledged > 0 && effects > 0,
  };
}
