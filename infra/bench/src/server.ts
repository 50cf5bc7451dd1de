import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { type Place, pinnedCommand } from './cores.ts';

/** A server in a process of its own. */
export interface BenchServer {
  readonly url: string;
  /** The id of the Node process itself, which `taskset` turns into. */
  readonly pid: number;
  stop(): Promise<void>;
}

/** Variables that every started program gets from this process. Node's compile cache is set by `npm test`, not by `npm run bench`. */
export function inherited(): Record<string, string> {
  const { PATH = '', NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}

/** Starts a program, which prints `{"url": "…"}` as the first line of stdout when it is ready, and ends on SIGTERM. */
export async function startServer(
  program: URL,
  environment: Record<string, string>,
  place: Place = 'measured',
  nodeArguments: readonly string[] = [],
): Promise<BenchServer> {
  const [command, args] = pinnedCommand(place, process.execPath, [
    '--disable-warning=TimeoutNegativeWarning',
    ...nodeArguments,
    fileURLToPath(program),
  ]);
  const child = spawn(command, args, {
    env: { ...inherited(), NODE_ENV: 'production', ALLOW_SIMULATED_PAYMENTS: 'true', ...environment },
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
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      await exited;
    },
  };
}

async function firstLine(child: ChildProcess, program: URL): Promise<string> {
  const stdout = child.stdout as NonNullable<ChildProcess['stdout']>;
  for await (const line of createInterface(stdout)) {
    stdout.resume(); // Discards the rest, which would otherwise fill the pipe.
    return (JSON.parse(line) as { url: string }).url;
  }
  throw new Error(`${program.pathname} ended before it was ready`);
}

/** For the programs: prints the URL that this process serves. */
export function announce(url: string): void {
  process.stdout.write(`${JSON.stringify({ url })}\n`);
}
