import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Place, placed } from './cores.ts';

/** A server in a process of its own. */
export interface BenchServer {
  readonly url: string;
  /** Of the Node process itself; `taskset` becomes it. */
  readonly pid: number;
  stop(): Promise<void>;
}

/**
 * Starts `program` (a file beside the cases) with an environment. The program prints `{"url": "…"}` on its first line
 * of stdout once it answers, and ends on SIGTERM.
 */
export async function startServer(
  program: URL,
  environment: Record<string, string>,
  place: Place = 'measured',
  nodeArguments: readonly string[] = [],
): Promise<BenchServer> {
  const [command, args] = placed(place, process.execPath, [
    '--disable-warning=TimeoutNegativeWarning',
    ...nodeArguments,
    fileURLToPath(program),
  ]);
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, NODE_ENV: 'production', ALLOW_SIMULATED_PAYMENTS: 'true', ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const end = () => child.kill('SIGKILL');
  process.on('exit', end);
  child.on('exit', () => process.off('exit', end));
  const url = await firstLine(child, program);
  return {
    url,
    pid: child.pid ?? 0,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
    },
  };
}

async function firstLine(child: ChildProcess, program: URL): Promise<string> {
  const stdout = child.stdout as NonNullable<ChildProcess['stdout']>;
  for await (const line of createInterface(stdout)) {
    stdout.resume(); // The rest is of no interest, but must not fill the pipe.
    return (JSON.parse(line) as { url: string }).url;
  }
  throw new Error(`${program.pathname} ended before it answered`);
}

/** For the programs: says where this process answers. */
export function announce(url: string): void {
  process.stdout.write(`${JSON.stringify({ url })}\n`);
}
