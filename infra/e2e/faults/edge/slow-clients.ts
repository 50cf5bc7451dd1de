import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** Headers byte by byte, a body byte by byte, the same of a request that was answered long ago, an answer read so. */
export type SlowKind = 'headers' | 'body' | 'refused' | 'answer';

export interface SlowReport {
  open: number;
  readonly ended: Record<SlowKind, number>;
  /** Milliseconds from connecting until the gateway had ended it, of the one that lasted longest. */
  readonly longest: Record<SlowKind, number>;
}

export interface SlowClients {
  /** Absent until all of them have connected. */
  report(): SlowReport | undefined;
  stop(): Promise<void>;
}

/** Starts clients, as many of each kind, that give or take a byte every `paceMs`. */
export function startSlowClients(options: {
  readonly port: number;
  readonly clients: number;
  readonly paceMs: number;
  readonly token: string;
}): SlowClients {
  const child = spawn(
    process.execPath,
    ['--disable-warning=TimeoutNegativeWarning', join(import.meta.dirname, 'slow-clients.process.ts')],
    {
      env: {
        PORT: String(options.port),
        CLIENTS: String(options.clients),
        PACE_MS: String(options.paceMs),
        TOKEN: options.token,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  process.once('exit', () => child.kill('SIGKILL'));
  let last: SlowReport | undefined;
  createInterface(child.stdout).on('line', (line) => {
    last = JSON.parse(line) as SlowReport;
  });
  return {
    report: () => last,
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
