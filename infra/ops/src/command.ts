import type { ParseArgsConfig, parseArgs } from 'node:util';
import type { RegisteredName } from '@attribution/registry';
import type { ServiceDatabase } from './databases.ts';

type Options = NonNullable<ParseArgsConfig['options']>;
type ValuesOf<O extends Options> = ReturnType<
  typeof parseArgs<{ readonly options: O; readonly allowPositionals: true }>
>['values'];

/** What a command is called with. */
export interface Call<Values> {
  readonly values: Values;
  /** The first argument of a command that has `verbs`, otherwise empty. */
  readonly verb: string;
  /** The arguments after the verb and the service. */
  readonly words: readonly string[];
  /** The service that the command is about, from an argument, `--service` or `SERVICE`. */
  readonly service: RegisteredName | undefined;
  /** Finds the databases that the command is about. Throws `Refusal` when there are none. */
  readonly databases: () => Promise<readonly ServiceDatabase[]>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Writes a line of the result to stdout. */
  readonly say: (line: string) => void;
  /** Writes a line of progress to stderr. */
  readonly note: (line: string) => void;
  /** Aborted by Ctrl-C: a command that waits then stops waiting. */
  readonly stopping: AbortSignal;
}

interface Definition<O extends Options> {
  readonly name: string;
  /** The subcommands, one of which must be the first argument. */
  readonly verbs?: readonly string[];
  /** The service that the command is about when none is named. */
  readonly service?: RegisteredName;
  /** One line for the list of commands. */
  readonly summary: string;
  /** The text that `--help` shows. */
  readonly help: string;
  readonly options: O;
  /** Resolves to whether all is well. If not, the exit code is 1. */
  readonly run: (call: Call<ValuesOf<O>>) => Promise<boolean>;
}

export interface Command extends Omit<Definition<Options>, 'run'> {
  readonly run: (call: Call<never>) => Promise<boolean>;
}

/** Declares a command. The types of its `values` follow from its options. */
export const command = <const O extends Options>(definition: Definition<O>): Command => definition as Command;

/** The option of every command that changes something. */
export const dryRun = { 'dry-run': { type: 'boolean', default: false } } as const;
