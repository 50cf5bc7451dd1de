import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** What goes byte by byte: the headers, the body, the body of a request that was already refused, or reading the response. */
export type SlowKind = 'headers' | 'body' | 'refused' | 'answer';

export interface SlowReport {
  open: number;
  readonly ended: Record<SlowKind, number>;
  /** The longest time in milliseconds from connecting until the gateway ended the connection. */
  readonly longest: Record<SlowKind, number>;
}

export interface SlowClients {
  /** Undefined until all clients have connected. */
  report(): SlowReport | undefined;
  stop(): Promise<void>;
}

/** Starts equally many clients of each kind, which send or read a byte every `paceMs`. */
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
