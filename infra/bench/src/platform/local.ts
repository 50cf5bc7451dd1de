import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@attribution/servers';
import { pinnedCommand } from '../cores.ts';
import { inherited } from '../server.ts';

const root = join(import.meta.dirname, '../../../..');
/** The flags that `infra/bootstrap.mjs` passes to Node. */
const flags = ['--disable-warning=TimeoutNegativeWarning', '--disable-warning=ExperimentalWarning'];

/** Until a platform that never answers counts as failed. It judges nothing: what a start takes is a row of the table. */
const startTimeoutMs = 300_000;

/** A setting for cases that only have to run. */
export const cheapHash = { BCRYPT_COST: '4' };

export interface LocalOptions {
  /** The folder of all its data, which is kept. */
  readonly directory: string;
  readonly port: number;
  /** Flags for Node. With any, the program is started without the bootstrap, because Node would apply them to that too. */
  readonly nodeArguments?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** The platform as `npm start` runs it, with all cores. */
export interface LocalPlatform {
  readonly url: string;
  /** The id of the platform's own Node process. */
  readonly pid: number;
  readonly mailDirectory: string;
  /** From the command to the first healthy response. */
  readonly seconds: number;
  /** Its output so far. */
  readonly output: () => string;
  stop(): Promise<void>;
}

export async function startLocal(options: LocalOptions): Promise<LocalPlatform> {
  const { directory, port, nodeArguments = [], environment = {} } = options;
  const program = 'infra/local/src/main.ts';
  const args = nodeArguments.length === 0 ? ['infra/bootstrap.mjs', program] : [...flags, ...nodeArguments, program];
  const ports = { PORT: String(port), DEVICE_PORT: String(await freePort()) };
  const began = performance.now();
  const child = spawn(...pinnedCommand('anywhere', process.execPath, args), {
    cwd: root,
    env: { ...inherited(), LOCAL_DIR: directory, ...ports, LOG_LEVEL: 'error', ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = once(child, 'exit');
  const runs = () => child.exitCode === null && child.signalCode === null;
  process.on('exit', () => child.kill('SIGTERM'));

  async function stop(): Promise<void> {
    child.kill('SIGTERM');
    await ended;
  }

  const url = `http://127.0.0.1:${port}`;
  const deadline = began + startTimeoutMs;
  while (!(await isHealthy(url))) {
    if (!runs() || performance.now() > deadline) {
      await stop();
      throw new Error(`The platform does not start:\n${output}`);
    }
    await sleep(10);
  }
  const seconds = (performance.now() - began) / 1000;
  const pid = Number((await readFile(join(directory, 'running.pid'), 'utf8')).split(' ')[0]);
  return { url, pid, mailDirectory: join(directory, 'mail'), seconds, output: () => output, stop };
}

async function isHealthy(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/healthz`).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.ok ?? false;
}
