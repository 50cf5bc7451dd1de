import { type Inspected, inspect } from '../crash/check/check.ts';
import type { Tally } from '../crash/check/tally.ts';
import { readTopics } from '../crash/check/topics.ts';
import { type Ledger, openLedger } from '../crash/load/ledger.ts';
import { startLoad } from '../crash/load/load.ts';
import { openMailFolder } from '../crash/load/mail-folder.ts';
import type { Lab } from '../experiment.ts';
import { completeJourney } from './journey.ts';
import type { SeparateWorld } from './world.ts';

/** After this a journey is given up. It judges nothing: how long a recovery may take is `recoveryBar`. */
const timeoutMs = 240_000;
const recoveryBarMs = 10_000;
/** Recoveries of a quiet machine take up to four times as long as the same journeys do when nothing is broken. */
const slowerThanBaseline = 4;
/** Several at once, so that their events are on different partitions. */
const parallelJourneys = 4;
/**
 * In the short form people pause, because their load would take the processors from what is tried: the starts of processes
 * and the recovery. Some dozens of requests a second still meet each fault.
 */
const shortFormPauseMs = 250;
/** How long it may take until all events and notifications are handled. */
const quietTimeoutMs = 90_000;

/**
 * How long a recovery may take, in milliseconds. The short form runs beside other tests: what it takes to start processes and
 * to go through the platform is compared with such journeys on the same machine.
 */
export const recoveryBar = (long: boolean, baselineMs: number): number =>
  long ? recoveryBarMs : Math.max(recoveryBarMs + baselineMs, slowerThanBaseline * baselineMs);

/** How long it took from the end of a fault until whole journeys succeeded. */
export interface Recovery {
  /** Infinity if one never did. */
  readonly ms: number;
  /** The longest step of the slowest journey, as "bought tokens +5.1 s", or where a journey stopped. */
  readonly longest: string;
}

/** What happened during a period under load. */
export interface Outcome {
  readonly requests: number;
  /** The number of payments that the provider's page acknowledged. */
  readonly payments: number;
  /** How often each kind of failure occurred: responses other than a success, and cut connections. */
  readonly failures: ReadonlyMap<string, number>;
  readonly violations: readonly string[];
  /** The violations that no earlier check has found. */
  readonly tally: Tally;
  readonly state: Pick<Inspected, 'waiting' | 'deadLetters' | 'events' | 'effects' | 'redelivered'>;
  readonly recoveries: readonly Recovery[];
  /** How long the same journeys took under load when nothing was broken. */
  readonly baselineMs: number;
}

export interface Trial {
  /** All requests so far. */
  readonly ledger: Ledger;
  /** To be called at the end of a fault. Resolves when journeys that begin now have succeeded or timed out. */
  recover(): Promise<Recovery>;
  /** Runs `work` while people use the platform; then stops them and checks everything. */
  underLoad(work: () => Promise<void>, options?: UnderLoadOptions): Promise<Outcome>;
}

export interface UnderLoadOptions {
  /** How many people use the platform at a time. Default: 3, and 2 in the short form. */
  readonly concurrency?: number;
  /** Whether `work` recovers from nothing, so that it needs no baseline. Default: false. */
  readonly withoutBaseline?: boolean;
}

export function openTrial(world: SeparateWorld, { seed, say, long }: Pick<Lab, 'seed' | 'say' | 'long'>): Trial {
  const ledger = openLedger();
  const mail = openMailFolder(world.mailDirectory);
  const known = new Set<string>();
  const recoveries: Recovery[] = [];
  let firstNumber = 0;
  let baselineMs: number | undefined;

  /** Returns the slowest journey. */
  async function journeys(): Promise<Recovery> {
    const began = performance.now();
    const billing = world.databases.billing ?? '';
    const options = { url: world.url, mail, ledger, billing, deadline: began + timeoutMs };
    const one = () =>
      completeJourney(options).then(
        (steps) => timeOf(began, steps),
        (error: Error) => ({ ms: Number.POSITIVE_INFINITY, longest: error.message }),
      );
    const passed = await Promise.all([one(), ...Array.from({ length: parallelJourneys - 1 }, one)]);
    return passed.reduce((slowest, next) => (next.ms > slowest.ms ? next : slowest));
  }

  async function recover(): Promise<Recovery> {
    const recovery = await journeys();
    recoveries.push(recovery);
    return recovery;
  }

  /**
   * The first journeys compile the code of processes that have just started; the second ones are the baseline. In the short
   * form the load of the acts before has compiled it.
   */
  async function warmUp(): Promise<number> {
    if (long) await journeys();
    const { ms, longest } = await journeys();
    if (!Number.isFinite(ms)) throw new Error(`A journey failed though nothing was broken: ${longest}`);
    say(`  such journeys take ${(ms / 1000).toFixed(1)} s when nothing is broken (${longest})`);
    return ms;
  }

  async function underLoad(
    work: () => Promise<void>,
    { concurrency = long ? 3 : 2, withoutBaseline = false }: UnderLoadOptions = {},
  ): Promise<Outcome> {
    const before = { requests: total(ledger), failures: new Map(ledger.failures), paid: paid(ledger) };
    const violations = ledger.violations.length;
    recoveries.length = 0;
    const load = startLoad({
      ...{ baseUrl: world.url, mail, ledger, seed, concurrency, firstNumber },
      ...(!long && { maxPauseMs: shortFormPauseMs }),
    });
    try {
      if (!withoutBaseline) baselineMs ??= await warmUp();
      await work();
    } finally {
      await load.stop();
      firstNumber += 1_000_000; // Numbers of people must be unique on a platform.
    }
    const { kafka } = world.servers;
    const { databases, topicPrefix } = world;
    const published = () => readTopics(kafka.brokers, topicPrefix);
    const { tally, ...state } = await inspect({ databases, mail, ledger, published, timeoutMs: quietTimeoutMs });
    for (const [name, lines] of Object.entries({ ...tally, violations: ledger.violations.slice(violations) }))
      for (const line of lines.filter((one: string) => !known.has(one)).slice(0, 5)) say(`  ${name}: ${line}`);
    return {
      requests: total(ledger) - before.requests,
      payments: paid(ledger) - before.paid,
      failures: difference(ledger.failures, before.failures),
      violations: ledger.violations.slice(violations),
      tally: onlyNew(tally, known),
      state,
      recoveries: [...recoveries],
      baselineMs: baselineMs ?? 0,
    };
  }

  return { ledger, recover, underLoad };
}

const total = ({ counts }: Ledger) => counts.acknowledged + counts.refused + counts.unknown;
const paid = ({ purchases }: Ledger) => purchases.filter(({ outcome }) => outcome === 'acknowledged').length;

/** By how much each count has grown. */
export function difference(
  now: ReadonlyMap<string, number>,
  before: ReadonlyMap<string, number>,
): ReadonlyMap<string, number> {
  return new Map(
    [...now].flatMap(([what, count]) =>
      count > (before.get(what) ?? 0) ? [[what, count - (before.get(what) ?? 0)]] : [],
    ),
  );
}

/** Filters out what an earlier check has found, because every later check finds it again. */
function onlyNew(tally: Tally, known: Set<string>): Tally {
  const fresh = (lines: readonly string[]) => lines.filter((line) => !known.has(line));
  const [lost, doubled, reordered, torn] = [tally.lost, tally.doubled, tally.reordered, tally.torn].map(fresh);
  for (const line of Object.values(tally).flat()) known.add(line);
  return { lost: lost ?? [], doubled: doubled ?? [], reordered: reordered ?? [], torn: torn ?? [] };
}

function timeOf(began: number, steps: ReadonlyMap<string, number>): Recovery {
  let [last, longest, most] = [began, '', 0];
  for (const [name, at] of steps) {
    if (at - last > most) [longest, most] = [name, at - last];
    last = at;
  }
  return { ms: last - began, longest: `${longest} +${(most / 1000).toFixed(1)} s` };
}
