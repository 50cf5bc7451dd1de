import type { ParseArgsConfig, parseArgs } from 'node:util';
import type { RegisteredName } from '@attribution/registry';
import type { Place } from './places.ts';

type Options = NonNullable<ParseArgsConfig['options']>;
type ValuesOf<O extends Options> = ReturnType<
  typeof parseArgs<{ readonly options: O; readonly allowPositionals: true }>
>['values'];

/** What every command gets. */
export interface Call<Values> {
  readonly values: Values;
  /** The first argument of a command that does several things. */
  readonly verb: string;
  /** The arguments behind that and the service. */
  readonly words: readonly string[];
  /** The service that was named, by an argument or by `--service`. */
  readonly service: RegisteredName | undefined;
  /** The databases that are meant. Throws `Refusal` where there is none. */
  readonly places: () => Promise<readonly Place[]>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** A line of the result, to stdout. */
  readonly say: (line: string) => void;
  /** A line of how far it is, to stderr. */
  readonly note: (line: string) => void;
  /** Aborted when somebody presses Ctrl-C: what waits stops waiting. */
  readonly stopping: AbortSignal;
}

interface Definition<O extends Options> {
  readonly name: string;
  /** The things that it does, one of which is its first argument. */
  readonly verbs?: readonly string[];
  /** The service that it is about, where no other is named. */
  readonly service?: RegisteredName;
  /** Of the list of commands. */
  readonly summary: string;
  /** Whole, as `--help` shows it. */
  readonly help: string;
  readonly options: O;
  /** Resolves with whether all is well: else the exit code is 1. */
  readonly run: (call: Call<ValuesOf<O>>) => Promise<boolean>;
}

export interface Command extends Omit<Definition<Options>, 'run'> {
  readonly run: (call: Call<never>) => Promise<boolean>;
}

/** Declares a command; its `values` have the types of its options. */
export const command = <const O extends Options>(definition: Definition<O>): Command => definition as Command;

/** Of every command that changes something. */
export const dryRun = { 'dry-run': { type: 'boolean', default: false } } as const;
