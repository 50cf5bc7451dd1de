import { parseArgs } from 'node:util';
import { registeredNames } from '@attribution/registry';
import type { Call, Command } from './command.ts';
import { commands } from './commands/index.ts';
import { findDatabases, ownService, takeService } from './databases.ts';
import { createRedactor } from './redact.ts';
import { describeFailure, misused, Refusal } from './refusal.ts';
import { readRunning } from './running.ts';

export interface Terminal {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Writes a line to stdout. */
  readonly out: (line: string) => void;
  /** Writes a line to stderr. */
  readonly err: (line: string) => void;
  readonly stopping: AbortSignal;
}

const everywhere = `Options of every command:
  --service <name>   for this service alone; with DATABASE_URL, the service that it belongs to
  --help, -h         what the command does

The commands find databases by <SERVICE>_DATABASE_URL, where <SERVICE> is one of ${registeredNames.join(', ').toUpperCase()};
or by DATABASE_URL, which belongs to SERVICE; or else in LOCAL_DIR (.local), where npm start and npm run fleet note theirs.
Exit code: 0 all is well, 1 something is wrong with the platform, 2 something is wrong with the command.`;

function overview(): string {
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(16)}${summary}`);
  return `Usage: ops <command> [argument…]   (npm run ops -- <command> …)\n\n${lines.join('\n')}\n\n${everywhere}`;
}

/** Carries out one command. Resolves to the exit code of the process. */
export async function runOps(words: readonly string[], terminal: Terminal): Promise<number> {
  const { environment, stopping } = terminal;
  const redact = createRedactor(environment);
  const say = (line: string) => terminal.out(redact(line));
  const note = (line: string) => terminal.err(redact(line));
  const [name, ...rest] = words;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    say(overview());
    return name === undefined ? 2 : 0;
  }
  const chosen = commands.find((command) => command.name === name);
  try {
    if (!chosen) throw misused(`There is no command ${name}: \`ops help\` lists them.`);
    const call = readCall(chosen, rest, { environment, say, note, stopping });
    if (call) return (await chosen.run(call as Call<never>)) ? 0 : 1;
    say(`${chosen.help}\n\n${everywhere}`);
    return 0;
  } catch (error) {
    const { title, detail } = describeFailure(error);
    note(`✗ ${chosen ? `${chosen.name}: ` : ''}${title}: ${detail}`);
    return error instanceof Refusal ? error.exitCode : 1;
  }
}

/** Parses the arguments of a command. Undefined for `--help`. */
function readCall(
  { name, options, verbs, service: usual }: Command,
  words: readonly string[],
  shared: Pick<Call<unknown>, 'environment' | 'say' | 'note' | 'stopping'>,
): Call<unknown> | undefined {
  const { values, positionals } = parsed(name, words, options);
  if (values.help) return undefined;
  const [verb = '', ...behind] = verbs ? positionals : ['', ...positionals];
  if (verbs && !verbs.includes(verb)) throw misused(`Choose one of: \`ops ${name} ${verbs.join('|')}\`.`);
  const { environment } = shared;
  const { service = usual ?? ownService(environment), rest } = takeService(
    behind,
    values.service as string | undefined,
  );
  return {
    ...shared,
    values,
    verb,
    words: rest,
    service,
    databases: async () =>
      findDatabases(environment, await readRunning(environment.LOCAL_DIR || '.local'), { service }),
  };
}

function parsed(name: string, words: readonly string[], options: Command['options']) {
  try {
    return parseArgs({
      args: [...words],
      allowPositionals: true,
      options: { ...options, service: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw misused(`${message.split('. ')[0]}. \`ops ${name} --help\` lists the options.`);
  }
}
