import type { Finding, Lab } from '../../experiment.ts';
import { type Outcome, type Recovery, recoveryBar, type Trial } from '../trial.ts';
import type { SeparateWorld } from '../world.ts';

export interface Stage {
  readonly world: SeparateWorld;
  readonly trial: Trial;
  readonly lab: Lab;
}

/** One kind of fault. All acts run on the same fleet. */
export interface Act {
  /** Selects the act: `--only kafka`. */
  readonly name: string;
  run(stage: Stage): Promise<readonly Finding[]>;
}

export interface Judged {
  readonly what: string;
  readonly tried: number;
  readonly outcome: Outcome;
  /** Further observations. */
  readonly more?: readonly string[];
  /** The number of cut connections that the fault explains. Default: 0. */
  readonly cutsAllowed?: number;
  /** Whether no request may fail at all. Default: false. */
  readonly seamless?: boolean;
  /** A further requirement. Default: true. */
  readonly holds?: boolean;
  readonly bar?: string;
  /** In the short form, the bar of recovery depends on the time that journeys take without a fault. */
  readonly long: boolean;
}

/** Judges the outcome of a fault by what all faults have in common. */
export function judged({
  what,
  tried,
  outcome,
  more = [],
  cutsAllowed = 0,
  seamless = false,
  holds = true,
  bar,
  long,
}: Judged): Finding {
  const { requests, payments, failures, violations, tally, state, recoveries, baselineMs } = outcome;
  const { lost, doubled, reordered, torn } = tally;
  const cuts = sum(failures, (name) => name.startsWith('cut'));
  const refused = sum(failures, (name) => /^5/.test(name));
  const wrong = [lost, doubled, reordered, torn, violations].flat().length + state.waiting + state.deadLetters;
  const slowest = recoveries.toSorted((a, b) => b.ms - a.ms)[0];
  const recoveryMs = recoveryBar(long, baselineMs);
  return {
    what,
    tried,
    found: [
      `lost ${lost.length}, doubled ${doubled.length}, reordered ${reordered.length}, half-written ${torn.length}`,
      ...(state.waiting > 0 ? [`${state.waiting} events still wait`] : []),
      ...(state.deadLetters > 0 ? [`${state.deadLetters} dead letters`] : []),
      ...(violations.length > 0 ? [`${violations.length} answers against the contract`] : []),
      `${requests} requests and ${payments} payments; ${describe(failures)}`,
      ...(slowest ? [recovered(slowest, recoveries, baselineMs)] : []),
      ...more,
    ].join('; '),
    bar: [
      bar ?? (seamless ? 'nothing lost, doubled or refused' : 'nothing lost or doubled; refusals are problem details'),
      ...(slowest ? [`well within ${seconds(recoveryMs)}`] : []),
    ].join('; '),
    holds:
      wrong === 0 &&
      state.effects > 0 &&
      cuts <= cutsAllowed &&
      (!seamless || cuts + refused === 0) &&
      (!slowest || (Number.isFinite(slowest.ms) && slowest.ms <= recoveryMs)) &&
      holds,
  };
}

function recovered({ ms, longest }: Recovery, all: readonly Recovery[], baselineMs: number): string {
  const usual = median(all.map((one) => one.ms));
  return `well after ${seconds(ms)} at most (${longest}), mostly ${seconds(usual)}, where ${seconds(baselineMs)} are taken when nothing is broken`;
}

/** For example "12 × 503 unavailable, 1 × cut: ECONNRESET". */
function describe(failures: ReadonlyMap<string, number>): string {
  if (failures.size === 0) return 'none failed';
  return [...failures].map(([name, count]) => `${count} × ${name}`).join(', ');
}

export const sum = (failures: ReadonlyMap<string, number>, among: (name: string) => boolean): number =>
  [...failures].reduce((total, [name, count]) => total + (among(name) ? count : 0), 0);

export const seconds = (ms: number) => (Number.isFinite(ms) ? `${(ms / 1000).toFixed(1)} s` : 'never');
const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
