import { parseArgs } from 'node:util';
import { registeredNames } from '@attribution/registry';
import type { Call, Command } from './command.ts';
import { commands } from './commands/index.ts';
import { findPlaces, ownService, takeService } from './places.ts';
import { createRedactor } from './redact.ts';
import { describeFailure, misused, Refusal } from './refusal.ts';
import { readRunning } from './running.ts';

export interface Surroundings {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Writes a line to stdout. */
  readonly out: (line: string) => void;
  /** Writes a line to stderr. */
  readonly err: (line: string) => void;
  readonly stopping: AbortSignal;
}

const everywhere = `Options of every command:
  --service <name>   of this service alone; the one whose database DATABASE_URL is, where that is set
  --help, -h         what the command does

The databases are those of what runs in LOCAL_DIR (.local: npm start, npm run fleet); or those of <SERVICE>_DATABASE_URL,
where <SERVICE> is one of ${registeredNames.join(', ').toUpperCase()}; or DATABASE_URL, the one of SERVICE.
Exit code: 0 all is well, 1 something is wrong there, 2 something is wrong with the command.`;

function overview(): string {
  const lines = commands.map(({ name, summary }) => `  ${name.padEnd(14)}${summary}`);
  return `Usage: ops <command> [argument…]   (npm run ops -- <command> …)\n\n${lines.join('\n')}\n\n${everywhere}`;
}

/** Carries out one command; resolves with the exit code of the process. */
export async function runOps(words: readonly string[], surroundings: Surroundings): Promise<number> {
  const { environment, stopping } = surroundings;
  const redact = createRedactor(environment);
  const say = (line: string) => surroundings.out(redact(line));
  const note = (line: string) => surroundings.err(redact(line));
  const [name, ...rest] = words;
  if (name === undefined || name === 'help' || name === '--help' || name === '-h') {
    say(overview());
    return name === undefined ? 2 : 0;
  }
  const chosen = commands.find((command) => command.name === name);
  try {
    if (!chosen) throw misused(`There is no command ${name}: \`ops help\` has the list.`);
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

/** Undefined where only help is asked for. */
function readCall(
  { name, options, verbs, service: usual }: Command,
  words: readonly string[],
  shared: Pick<Call<unknown>, 'environment' | 'say' | 'note' | 'stopping'>,
): Call<unknown> | undefined {
  const { values, positionals } = parsed(name, words, options);
  if (values.help) return undefined;
  const [verb = '', ...behind] = verbs ? positionals : ['', ...positionals];
  if (verbs && !verbs.includes(verb)) throw misused(`Say which: \`ops ${name} ${verbs.join('|')}\`.`);
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
    places: async () => findPlaces(environment, await readRunning(environment.LOCAL_DIR || '.local'), { service }),
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
    const said = error instanceof Error ? error.message : String(error);
    throw misused(`${said.split('. ')[0]}. \`ops ${name} --help\` has the options.`);
  }
}
