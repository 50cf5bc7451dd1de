import type { Spread } from './statistics.ts';
import { spreadOf } from './statistics.ts';
import { watchingSteal } from './steal.ts';

/** What a run of the benchmarks gives each case. */
export interface Tools {
  /** Pairs of runs, five or more when it counts. */
  readonly pairs: number;
  /** Seconds that one side of a pair is loaded. */
  readonly seconds: number;
  /** Of the load under which memory must not grow. */
  readonly minutes: number;
  /**
   * The cases only have to run through, as a test of them: with few rows, without warming up, and with a load of so few
   * requests (`seconds` is less than one) that their figures say nothing.
   */
  readonly moment: boolean;
  /** Tells a person what is going on. */
  readonly say: (line: string) => void;
  /** A server with the migrated database of each service as template. */
  readonly postgresUrl: string;
  /** Absent where there is no Java: cases that need it say so and give no row. */
  readonly kafkaBrokers: readonly string[] | undefined;
  readonly redisUrl: string | undefined;
  /** The program; absent where it could not be had. */
  readonly nginx: string | undefined;
}

/** One line of the table. */
export interface Row {
  readonly what: string;
  /** With its unit, as "12,300/s" or "1.9 ms". */
  readonly ours: string;
  readonly beside: string;
  readonly ratio?: Spread;
  /** As "≥ 0.4" or, where a figure is only printed, "–". */
  readonly bar: string;
  /** Absent where there is no bar. */
  readonly holds?: boolean;
}

export interface Case {
  readonly name: string;
  run(tools: Tools): Promise<readonly Row[]>;
}

export interface Compared {
  readonly a: Spread;
  readonly b: Spread;
  /** Of a to b, pair by pair. */
  readonly ratio: Spread;
}

/** A pair during which more than this of the processors' time went to other machines of the host is run again. */
export const stealAllowed = 0.05;

/** What both sides gave in one pair. */
export interface Pair<T> {
  readonly a: T;
  readonly b: T;
}

/**
 * Runs A B A B …, so that what drifts on the machine hits both sides alike; one pair before it is thrown away, and so
 * are those that the host disturbed, up to twice as many as count. `rateOf` is what a person is told of each.
 */
export async function inPairs<T>(
  { pairs, say, moment }: Pick<Tools, 'pairs' | 'say' | 'moment'>,
  a: () => Promise<T>,
  b: () => Promise<T>,
  rateOf: (side: T) => number,
): Promise<readonly Pair<T>[]> {
  if (!moment) {
    await a();
    await b();
  }
  const runs: Pair<T>[] = [];
  for (let again = moment ? 0 : 2 * pairs; runs.length < pairs; ) {
    const { result: run, stolen } = await watchingSteal(async () => ({ a: await a(), b: await b() }));
    const [ours, other] = [rateOf(run.a), rateOf(run.b)];
    const said = `${compact(ours)} beside ${compact(other)}, ratio ${(ours / other).toFixed(2)}`;
    if (stolen > stealAllowed && again-- > 0) {
      say(`  disturbed (${Math.round(100 * stolen)} % of the processors taken), run again: ${said}`);
      continue;
    }
    runs.push(run);
    say(`  pair ${runs.length} of ${pairs}: ${said}`);
  }
  return runs;
}

/** One figure of what the pairs gave. */
export function comparedBy<T>(runs: readonly Pair<T>[], figureOf: (side: T) => number): Compared {
  const figures = runs.map(({ a, b }) => ({ a: figureOf(a), b: figureOf(b) }));
  return {
    a: spreadOf(figures.map(({ a }) => a)),
    b: spreadOf(figures.map(({ b }) => b)),
    ratio: spreadOf(figures.map(({ a, b }) => a / b)),
  };
}

/** Runs both sides in pairs, where each gives one figure. */
export async function compare(
  tools: Pick<Tools, 'pairs' | 'say' | 'moment'>,
  a: () => Promise<number>,
  b: () => Promise<number>,
): Promise<Compared> {
  const itself = (figure: number) => figure;
  return comparedBy(await inPairs(tools, a, b, itself), itself);
}

/** Three digits that count, with thousands apart. */
export function compact(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 3 });
}

/** The row of a rate that must be at least `bar` times the peer's; without `bar` it is only printed. */
export function rateRow(what: string, { a, b, ratio }: Compared, bar?: number): Row {
  return {
    what,
    ours: `${compact(a.median)}/s`,
    beside: `${compact(b.median)}/s`,
    ratio,
    bar: bar === undefined ? '–' : `≥ ${compact(bar)}`,
    ...(bar !== undefined && { holds: ratio.median >= bar }),
  };
}
