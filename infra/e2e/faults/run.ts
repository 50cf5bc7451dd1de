import { createHash } from 'node:crypto';
import type { Experiment, Finding, Lab } from './experiment.ts';
import { chanceFrom } from './random.ts';

export type Parts = Pick<
  Lab,
  'postgresUrl' | 'kafkaBrokers' | 'redisUrl' | 'schemathesis' | 'toxiproxyUrl' | 'faketime' | 'mounts'
>;

export interface RunOptions {
  readonly seed: number;
  readonly long: boolean;
  /** Instead of the experiment's own number. */
  readonly rounds?: number | undefined;
  readonly only?: string | undefined;
  readonly say: (line: string) => void;
}

/** Why an experiment cannot be tried here. */
export function lacking({ needs = [] }: Experiment, parts: Parts): string | undefined {
  const there = { kafka: parts.kafkaBrokers, redis: parts.redisUrl, schemathesis: parts.schemathesis };
  const missing = needs.filter((part) => there[part] === undefined);
  return missing.length === 0 ? undefined : `there is no ${missing.join(' and no ')} here`;
}

/** Runs one experiment, on chances of its own. */
export function runExperiment(experiment: Experiment, parts: Parts, options: RunOptions): Promise<readonly Finding[]> {
  const { seed, long, only, say } = options;
  const rounds = options.rounds ?? (long ? experiment.rounds.long : experiment.rounds.short);
  const own = createHash('sha256').update(`${seed} ${experiment.name}`).digest().readInt32BE();
  return experiment.run({ ...parts, chance: chanceFrom(own), seed, rounds, long, only, say });
}
