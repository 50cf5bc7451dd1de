import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { bundlesOf } from '@attribution/bundle';
import { freePort } from '@attribution/servers';
import { compileCache } from './compile-cache.ts';

const root = join(import.meta.dirname, '../../..');

/** The program that runs the service named by `SERVICE`. */
export const anyService = 'infra/image/src/main.ts';

/** How long a process may take until it is ready: whoever starts beside much else takes its time. It judges nothing. */
export const startTimeoutMs = 300_000;

/** The programs that experiments start many times run as bundles. */
const bundles = await bundlesOf([
  anyService,
  'gateway/src/main.ts',
  'infra/local/src/main.ts',
  'infra/e2e/faults/crash/worlds/platform.process.ts',
  'infra/e2e/faults/outages/platform.process.ts',
]);

export interface MemberOptions {
  /** Relative to the repository's root. */
  readonly program: string;
  readonly port: number;
  readonly environment: Readonly<Record<string, string>>;
  /** Arguments of Node, such as `--import=…`. */
  readonly nodeArguments?: readonly string[];
}

/** A process of the platform that can be ended by any signal and started again on the same port. */
export interface Member {
  readonly url: string;
  readonly port: number;
  /** The id of the current process, or of the last one. */
  readonly pid: number;
  readonly running: boolean;
  /** The output of all processes of this member so far. */
  readonly output: string;
  /** Starts the process; `nodeArguments` apply to this start only. */
  start(nodeArguments?: readonly string[]): void;
  /** Resolves when `/healthz` is 200; rejects with the output if the process ended, or never answers so. */
  alive(): Promise<void>;
  /** Sends a signal and resolves with how the process ended; immediately if it had ended before. */
  end(signal: NodeJS.Signals): Promise<Ending>;
  /** Resolves with how the process that runs now will end. */
  ended(): Promise<Ending>;
}

/** An exit code, or the signal that ended it. */
export type Ending = number | NodeJS.Signals;

/** Killed at exit, so that an experiment that fails leaves no processes behind. */
const children = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
});

export function createMember(options: MemberOptions): Member {
  const url = `http://127.0.0.1:${options.port}`;
  let child: ChildProcess | undefined;
  let ending: Promise<Ending> = Promise.resolve(0);
  let output = '';
  const keep = (chunk: Buffer) => {
    output += String(chunk);
  };
  const running = () => child !== undefined && child.exitCode === null && child.signalCode === null;

  return {
    url,
    port: options.port,
    get pid() {
      return child?.pid ?? 0;
    },
    get running() {
      return running();
    },
    get output() {
      return output;
    },
    start(nodeArguments = []) {
      if (running()) throw new Error(`${options.program} runs already`);
      const args = ['--disable-warning=TimeoutNegativeWarning', ...(options.nodeArguments ?? []), ...nodeArguments];
      const program = bundles.get(options.program) ?? join(root, options.program);
      const started = spawn(process.execPath, [...args, program], {
        env: {
          PATH: process.env.PATH,
          NODE_ENV: 'test',
          PORT: String(options.port),
          ...compileCache,
          ...options.environment,
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      started.stdout.on('data', keep);
      started.stderr.on('data', keep);
      children.add(started);
      ending = once(started, 'exit').then(([code, signal]) => {
        children.delete(started);
        return (code ?? signal) as Ending;
      });
      child = started;
    },
    async alive() {
      const deadline = Date.now() + startTimeoutMs;
      for (;;) {
        // Closed at once, so that experiments that count connections do not count this one.
        const answer = await fetch(`${url}/healthz`, { headers: { connection: 'close' } }).catch(() => undefined);
        await answer?.arrayBuffer();
        if (answer?.ok) return;
        if (!running() || Date.now() > deadline)
          throw new Error(
            `${options.program} does not answer (${answer?.status ?? 'no connection'})\n${output.slice(-4_000)}`,
          );
        await sleep(50);
      }
    },
    async end(signal) {
      if (running()) child?.kill(signal);
      return ending;
    },
    ended: () => ending,
  };
}

/** `npm start` in a folder of its own, at ports of its own. */
export async function createLocal(directory: string, environment: Readonly<Record<string, string>>): Promise<Member> {
  const [port, devicePort, paymentsPort] = [await freePort(), await freePort(), await freePort()];
  const ports = { DEVICE_PORT: String(devicePort), PAYMENTS_PORT: String(paymentsPort) };
  const own = { LOCAL_DIR: directory, BCRYPT_COST: '4', ...ports };
  return createMember({ program: 'infra/local/src/main.ts', port, environment: { ...own, ...environment } });
}
