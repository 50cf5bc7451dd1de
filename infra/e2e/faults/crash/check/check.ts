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

/** Milliseconds: a killed consumer's group waits for its session, and so may the one after it. */
const quietWithin = 60_000;

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
  /** Reads what lies on the topics, where there is a broker. */
  readonly published?: (() => Promise<readonly Published[]>) | undefined;
  /** Default: a minute. */
  readonly within?: number;
}

/** What is left when everything that runs has caught up. */
export interface Inspected {
  readonly tally: Tally;
  /** As `Quiet` has them. */
  readonly waiting: number;
  readonly buried: number;
  readonly events: number;
  readonly effects: number;
  readonly cameAgain: number;
}

/** Waits until everything that runs has caught up, and holds the databases against what was acknowledged. */
export async function inspect(options: Omit<CheckOptions, 'say'>): Promise<Inspected> {
  const { databases, mail, ledger, within = quietWithin } = options;
  await untilPaid(ledger, databases, within);
  const { waiting, buried } = await untilQuiet(databases, within);
  const audits = await readAudits(databases);
  const tally = newTally();
  await checkRows(ledger, databases, mail, tally);
  await checkPurchases(ledger, databases, tally);
  checkCauses(audits, tally);
  const effects = checkEffects(audits, tally) + (await checkProjections(audits, databases, tally));
  checkOrder(audits, tally);
  checkAnswers(ledger, audits, tally);
  if (options.published) checkTopics(audits, await options.published(), tally);
  const cameAgain = [...audits.values()].reduce((sum, audit) => sum + audit.cameAgain, 0);
  return { tally, waiting, buried, events: allAppended(audits).length, effects, cameAgain };
}

/** The same, in words and against the bar. */
export async function check(options: CheckOptions): Promise<Checked> {
  const { ledger, say } = options;
  const { tally, waiting, buried, events, effects, cameAgain } = await inspect(options);
  const { lost, doubled, reordered, torn } = tally;
  for (const [name, lines] of Object.entries({ ...tally, improper: ledger.improper }))
    for (const line of lines.slice(0, 5)) say(`  ${name}: ${line}`);
  const { acknowledged, unknown } = ledger.counts;
  const wrong = [lost, doubled, reordered, torn, ledger.improper].flat().length + waiting + buried;
  const numbers = [
    `lost ${lost.length}, doubled ${doubled.length}, reordered ${reordered.length}, half-written ${torn.length}`,
    ...(waiting > 0 ? [`${waiting} events still wait`] : []),
    ...(buried > 0 ? [`${buried} dead letters`] : []),
    ...(ledger.improper.length > 0 ? [`${ledger.improper.length} answers against the contract`] : []),
  ].join(', ');
  const paid = ledger.purchases.filter(({ outcome }) => outcome === 'acknowledged').length;
  return {
    lost: lost.length,
    doubled: doubled.length,
    reordered: reordered.length,
    torn: torn.length,
    found: `${numbers} (${acknowledged} acknowledged, ${paid} of them payments, ${unknown} without an answer, ${events} events, ${effects} effects, ${cameAgain} came again)`,
    bar: 'none',
    // Nothing is proved by a load that did nothing.
    holds: wrong === 0 && acknowledged > 0 && effects > 0,
  };
}
