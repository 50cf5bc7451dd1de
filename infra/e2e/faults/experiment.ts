import type { Chance } from '@attribution/testing';

/** What an experiment works with. */
export interface Lab {
  /** Seeded by the run's seed and the experiment's name, so that experiments do not affect each other's random choices. */
  readonly chance: Chance;
  readonly seed: number;
  /** How often the experiment repeats its fault; by default its number for the short or the long form. */
  readonly rounds: number;
  readonly long: boolean;
  /** Restricts an experiment with several targets to those whose names contain this text. */
  readonly only?: string | undefined;
  /** Reports progress to the terminal. */
  readonly say: (line: string) => void;
  /** Keeps what helps to find the cause of a failure, such as logs, which are too long for a terminal. */
  readonly note: (text: string) => void;
  /** A server shared by all experiments, with each service's migrated database as a template. */
  readonly postgresUrl: string;
  /** Undefined, as the following ones, if the machine does not have it. */
  readonly kafkaBrokers: readonly string[] | undefined;
  readonly redisUrl: string | undefined;
  /** The directory of a Python environment with Schemathesis. */
  readonly schemathesis: string | undefined;
  /** The URL of Toxiproxy's API. */
  readonly toxiproxyUrl: string | undefined;
  /** The path of libfaketime's library. */
  readonly faketime: string | undefined;
  /** How file systems can be mounted on this machine. */
  readonly mounts: string | undefined;
}

/** A row of the report. */
export interface Finding {
  readonly what: string;
  readonly tried: number;
  /** For example "lost 0, doubled 0, reordered 0". */
  readonly found: string;
  readonly bar: string;
  readonly holds: boolean;
}

/** Breaks something on purpose and checks the platform's guarantees from outside. */
export interface Experiment {
  readonly name: string;
  /** The default number of rounds: `short` in `npm test`, `long` in `npm run shake`. */
  readonly rounds: { readonly short: number; readonly long: number };
  /** The equipment without which the experiment cannot run. */
  readonly needs?: readonly ('kafka' | 'redis' | 'schemathesis')[];
  run(lab: Lab): Promise<readonly Finding[]>;
}
