import type { Spread } from './statistics.ts';
import { spreadOf } from './statistics.ts';
import { watchingSteal } from './steal.ts';

/** The parameters and servers that each case gets. */
export interface Tools {
  /** Pairs of runs; five or more for publishable figures. */
  readonly pairs: number;
  /** Seconds of load for one side of a pair. */
  readonly seconds: number;
  /** Minutes of the load under which memory must not grow. */
  readonly minutes: number;
  /**
   * Only tests that the case works: with few rows, without warm-up, and with so few requests (`seconds` is less than one)
   * that the figures mean nothing.
   */
  readonly smoke: boolean;
  /** Prints progress. */
  readonly say: (line: string) => void;
  /** A Postgres server that has the migrated database of each service as a template. */
  readonly postgresUrl: string;
  /** Undefined without Java: cases that need Kafka return no rows. */
  readonly kafkaBrokers: readonly string[] | undefined;
  readonly redisUrl: string | undefined;
  /** Of an S3-compatible store, with credentials; undefined without one: cases measure their other stores alone. */
  readonly s3Url: string | undefined;
  /** The path of the program; undefined if it could not be found. */
  readonly nginx: string | undefined;
}

/** One line of the table. */
export interface Row {
  readonly what: string;
  /** With its unit, as "12,300/s" or "1.9 ms". */
  readonly ours: string;
  readonly beside: string;
  readonly ratio?: Spread;
  /** "≥ 0.4" or, if the figure is only printed, "–". */
  readonly bar: string;
  /** Undefined without a bar. */
  readonly holds?: boolean;
}

export interface Case {
  readonly name: string;
  run(tools: Tools): Promise<readonly Row[]>;
}

export interface Compared {
  readonly a: Spread;
  readonly b: Spread;
  /** The ratios of a to b, pair by pair. */
  readonly ratio: Spread;
}

/** A pair is run again if the host took more than this share of the CPU time for other machines. */
export const stealAllowed = 0.05;

/** The results of both sides of one pair. */
export interface Pair<T> {
  readonly a: T;
  readonly b: T;
}

/**
 * Runs A B A B …, so that drift of the machine affects both sides alike. A first pair is discarded as warm-up, and so are
 * pairs that the host disturbed, up to `2 * pairs` of them. `rateOf` gives the figure for progress output.
 */
export async function inPairs<T>(
  { pairs, say, smoke }: Pick<Tools, 'pairs' | 'say' | 'smoke'>,
  a: () => Promise<T>,
  b: () => Promise<T>,
  rateOf: (side: T) => number,
): Promise<readonly Pair<T>[]> {
  if (!smoke) {
    await a();
    await b();
  }
  const runs: Pair<T>[] = [];
  for (let retries = smoke ? 0 : 2 * pairs; runs.length < pairs; ) {
    const { result: run, stolen } = await watchingSteal(async () => ({ a: await a(), b: await b() }));
    const [ours, other] = [rateOf(run.a), rateOf(run.b)];
    const summary = `${compact(ours)} beside ${compact(other)}, ratio ${(ours / other).toFixed(2)}`;
    if (stolen > stealAllowed && retries-- > 0) {
      say(`  disturbed (the host took ${Math.round(100 * stolen)} % of the CPU time), running again: ${summary}`);
      continue;
    }
    runs.push(run);
    say(`  pair ${runs.length} of ${pairs}: ${summary}`);
  }
  return runs;
}

/** Compares both sides of the pairs by one figure of their results. */
export function comparedBy<T>(runs: readonly Pair<T>[], figureOf: (side: T) => number): Compared {
  const figures = runs.map(({ a, b }) => ({ a: figureOf(a), b: figureOf(b) }));
  return {
    a: spreadOf(figures.map(({ a }) => a)),
    b: spreadOf(figures.map(({ b }) => b)),
    ratio: spreadOf(figures.map(({ a, b }) => a / b)),
  };
}

/** Runs both sides in pairs and compares the one figure that each returns. */
export async function compare(
  tools: Pick<Tools, 'pairs' | 'say' | 'smoke'>,
  a: () => Promise<number>,
  b: () => Promise<number>,
): Promise<Compared> {
  const itself = (figure: number) => figure;
  return comparedBy(await inPairs(tools, a, b, itself), itself);
}

/** Formats a number with three significant digits and thousands separators. */
export function compact(value: number): string {
  return value.toLocaleString('en', { maximumSignificantDigits: 3 });
}

/** The row of a rate that must be at least `bar` times the peer's. Without `bar` it is only printed. */
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

/** The row of a cost that must be at most `bar` times the peer's. */
export function costRow(what: string, { a, b, ratio }: Compared, bar: number, unit: string): Row {
  const text = (cost: number) => `${compact(cost)} ${unit}`;
  return {
    what,
    ours: text(a.median),
    beside: text(b.median),
    ratio,
    bar: `≤ ${compact(bar)}`,
    holds: ratio.median <= bar,
  };
}
