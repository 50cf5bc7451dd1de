import type { Chance } from './random.ts';

/** What a run gives each experiment. */
export interface Lab {
  /** Of this experiment's own, from the run's seed: what one experiment draws does not move another. */
  readonly chance: Chance;
  readonly seed: number;
  /** How often it is tried; the experiment's own number of the short or the long form. */
  readonly rounds: number;
  readonly long: boolean;
  /** Of an experiment with several targets, those alone whose names contain this. */
  readonly only?: string | undefined;
  /** Tells a person what is going on. */
  readonly say: (line: string) => void;
  /** A server that other experiments use as well, with each service's migrated database as a template. */
  readonly postgresUrl: string;
  /** Absent where there is none on this machine: the experiment gives no row then. */
  readonly kafkaBrokers: readonly string[] | undefined;
  readonly redisUrl: string | undefined;
  /** The directory of a Python environment that has it. */
  readonly schemathesis: string | undefined;
  /** Where Toxiproxy takes commands. */
  readonly toxiproxyUrl: string | undefined;
  /** The file of libfaketime. */
  readonly faketime: string | undefined;
  /** How file systems may be mounted here. */
  readonly mounts: string | undefined;
}

/** One line of the table. */
export interface Finding {
  readonly what: string;
  readonly tried: number;
  /** As "lost 0, doubled 0, reordered 0". */
  readonly found: string;
  readonly bar: string;
  readonly holds: boolean;
}

/** Something is broken on purpose, and what the platform promises is checked from outside. */
export interface Experiment {
  readonly name: string;
  /** Rounds of the form in `npm test`, and of `npm run shake`. */
  readonly rounds: { readonly short: number; readonly long: number };
  /** The parts without which it cannot be tried. */
  readonly needs?: readonly ('kafka' | 'redis' | 'schemathesis')[];
  run(lab: Lab): Promise<readonly Finding[]>;
}
