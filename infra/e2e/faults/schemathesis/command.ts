import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { type Caller, callers } from './callers.ts';
import type { Estate } from './estate.ts';

export interface Command {
  /** The directory of the Python environment. */
  readonly environment: string;
  readonly url: string;
  readonly mailDirectory: string;
  readonly estate: Estate;
  /** Who sends the requests. */
  readonly as: Caller;
  readonly seed: number;
  /** The maximum number of generated cases for each operation. */
  readonly examples: number;
  /** Settings of some operations. An operation may be named by one of them. */
  readonly exceptions?: readonly Exception[];
  /** Called once a minute with what has been done. */
  readonly onProgress: (text: string) => void;
}

interface Exception {
  readonly operations: readonly string[];
  /** Replaces `examples`. */
  readonly examples?: number;
  /** Whether the boundary values of the schemas are tried, which is Schemathesis's phase "coverage". Default: true. */
  readonly boundaries?: boolean;
}

/** What hooks.py begins its lines about its progress with. */
const progressMark = 'progress: ';

/** The parts of Schemathesis's report that are read. */
const Report = z.object({
  complete: z.boolean(),
  operations: z.object({ total: z.int(), tested: z.int() }),
  failures: z.array(z.object({ title: z.string(), count: z.int(), operations: z.array(z.string()) })),
  errors: z.array(z.object({ title: z.string(), count: z.int() })),
});

/** The number of responses by operation and status, as "list_groups 200". */
const Answers = z.record(z.string(), z.int());

export interface Outcome {
  readonly report: z.output<typeof Report>;
  readonly answers: z.output<typeof Answers>;
  /** Schemathesis's output, with a command that reproduces each failure. */
  readonly output: string;
}

/** Runs Schemathesis over the document that the gateway serves. */
export async function runSchemathesis(command: Command): Promise<Outcome> {
  const directory = await mkdtemp(join(tmpdir(), 'schemathesis-'));
  const file = (name: string) => join(directory, name);
  const [configFile, reportFile, answersFile] = [file('schemathesis.toml'), file('report.json'), file('answers.json')];
  const { url, mailDirectory, as, seed, exceptions = [] } = command;
  const { callers: there, ...estate } = command.estate;
  const own = as === 'nobody' ? null : there.principals[as].id;
  const settings = {
    ...{ url, as, own, seed, ...estate, callers: there.credentials, mail: mailDirectory, answers_file: answersFile },
    // Each run needs new client addresses, because rate limits of the previous one are still in effect.
    addresses_from: callers.indexOf(as) * 2 ** 21,
  };
  const args = [
    ...['-m', 'schemathesis.cli', '--config-file', configFile],
    ...['run', `${url}/v2/openapi.json`, '--seed', String(seed), '--max-examples', String(command.examples)],
    ...['--report', 'json', '--report-json-path', reportFile, '--no-color'],
  ];
  try {
    const common = await readFile(join(import.meta.dirname, 'schemathesis.toml'), 'utf8');
    await writeFile(configFile, common + exceptions.map(inToml).join(''));
    const output = await collect(join(command.environment, 'bin/python'), args, {
      PLATFORM: JSON.stringify(settings),
      // By module name: given by path, the file would be loaded several times, and each time its hooks would count.
      SCHEMATHESIS_HOOKS: 'hooks',
      PYTHONPATH: import.meta.dirname,
      PYTHONDONTWRITEBYTECODE: '1',
      PYTHONUTF8: '1',
    });
    const read = async <T>(file: string, shape: z.ZodType<T>) => {
      try {
        return shape.parse(JSON.parse(await readFile(file, 'utf8')));
      } catch (cause) {
        throw new Error(`Schemathesis did not come to its end:\n${output.slice(-4_000)}`, { cause });
      }
    };
    return { report: await read(reportFile, Report), answers: await read(answersFile, Answers), output };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }

  function collect(program: string, programArgs: string[], environment: Record<string, string>): Promise<string> {
    return new Promise((resolve, reject) => {
      let text = '';
      const child = spawn(program, programArgs, {
        cwd: directory, // Schemathesis writes files into its working directory.
        env: { PATH: process.env.PATH, ...environment },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      for (const stream of [child.stdout, child.stderr])
        createInterface(stream).on('line', (line) => {
          if (line.startsWith(progressMark)) command.onProgress(line.slice(progressMark.length));
          else text += `${line}\n`;
        });
      child.once('error', reject);
      child.once('close', () => resolve(text));
    });
  }
}

/** The part of the configuration for some operations. A list in JSON is also one in TOML. */
const inToml = ({ operations, examples, boundaries = true }: Exception) =>
  [
    '\n[[operations]]',
    `include-operation-id = ${JSON.stringify(operations)}`,
    ...(examples === undefined ? [] : [`generation.max-examples = ${examples}`]),
    ...(boundaries ? [] : ['phases.coverage.enabled = false']),
    '',
  ].join('\n');
