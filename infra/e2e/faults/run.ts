import { createHash } from 'node:crypto';
import { chanceFrom } from '@attribution/testing';
import type { Experiment, Finding, Lab } from './experiment.ts';

export type Equipment = Pick<
  Lab,
  'postgresUrl' | 'kafkaBrokers' | 'redisUrl' | 'schemathesis' | 'toxiproxyUrl' | 'faketime' | 'mounts'
>;

export interface RunOptions {
  readonly seed: number;
  readonly long: boolean;
  /** Overrides the experiment's number of rounds. */
  readonly rounds?: number | undefined;
  readonly only?: string | undefined;
  readonly say: Lab['say'];
  readonly note: Lab['note'];
}

/** The reason why an experiment cannot run on this machine; undefined if it can. */
export function missingEquipment({ needs = [] }: Experiment, equipment: Equipment): string | undefined {
  const available = { kafka: equipment.kafkaBrokers, redis: equipment.redisUrl, schemathesis: equipment.schemathesis };
  const missing = needs.filter((name) => available[name] === undefined);
  return missing.length === 0 ? undefined : `there is no ${missing.join(' and no ')} here`;
}

/** Runs one experiment, with its own sequence of random choices. */
export function runExperiment(
  experiment: Experiment,
  equipment: Equipment,
  options: RunOptions,
): Promise<readonly Finding[]> {
  const { seed, long, only, say, note } = options;
  const rounds = options.rounds ?? (long ? experiment.rounds.long : experiment.rounds.short);
  const ownSeed = createHash('sha256').update(`${seed} ${experiment.name}`).digest().readInt32BE();
  return experiment.run({ ...equipment, chance: chanceFrom(ownSeed), seed, rounds, long, only, say, note });
}
