import { spawn } from 'node:child_process';
import { mkdir, open, readFile } from 'node:fs/promises';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pTimeout from 'p-timeout';
import { tail } from './which.ts';

/** A server process that ends when this process ends, however that happens. */
export interface Child {
  /** Resolves when `trouble` returns undefined; rejects with the end of the log. */
  ready(trouble: () => Promise<string | undefined>, ms: number): Promise<void>;
  /** SIGTERM, and after 10 s SIGKILL. */
  stop(): Promise<void>;
  /** Sends a signal, such as SIGKILL or SIGSTOP. */
  signal(name: NodeJS.Signals): void;
}

const PATIENCE_MS = 10_000;

export interface Command {
  /** Its name in error messages. */
  name: string;
  program: string;
  args: string[];
  /** The file to which its output is appended. */
  log: string;
}

export async function startChild({ name, program, args, log }: Command): Promise<Child> {
  await mkdir(dirname(log), { recursive: true });
  const file = await open(log, 'a');
  const child = spawn(program, args, { stdio: ['ignore', file.fd, file.fd] });
  let end: string | undefined;
  const ended = new Promise<void>((resolve) => {
    const settle = (how: string) => {
      end = how;
      resolve();
    };
    child.once('error', (error) => settle(error.message));
    child.once('exit', (code, signal) => settle(signal ?? `exit code ${code}`));
  });
  await file.close();
  // A forgotten stop() must not keep the parent running.
  child.unref();
  if (child.pid !== undefined) {
    const release = tether(['sh', '-c', END, 'sh', String(child.pid)]);
    void ended.then(release);
  }

  const stop = async () => {
    if (end !== undefined) return;
    child.ref();
    child.kill('SIGTERM');
    await pTimeout(ended, { milliseconds: PATIENCE_MS, fallback: () => {} });
    if (end === undefined) child.kill('SIGKILL');
    await ended;
  };

  return {
    async ready(trouble, ms) {
      const deadline = Date.now() + ms;
      for (;;) {
        const reason = end === undefined ? await trouble() : `it ended (${end})`;
        if (reason === undefined && end === undefined) return;
        if (end !== undefined || Date.now() > deadline) {
          await stop();
          const text = tail(await readFile(log, 'utf8'));
          throw new Error(`${name} did not start: ${reason ?? end}\n${text}\n(${log})`);
        }
        await sleep(50);
      }
    },
    stop,
    signal: (name) => void child.kill(name),
  };
}

/** Ends process $1 as stop() does. */
const END = `kill "$1"; n=${PATIENCE_MS / 1_000}
while kill -0 "$1" && [ $n -gt 0 ]; do sleep 1; n=$((n - 1)); done; kill -9 "$1"`;

/**
 * Runs a command when this process has ended, even by SIGKILL, for which no handler runs: a shell waits for the end of its
 * input, which the system closes. Signals to all processes of a terminal must not end the shell. The returned function
 * cancels this.
 */
export function tether(command: string[]): () => void {
  const watch = `trap '' INT TERM HUP; read -r line; trap - INT TERM HUP; exec "$@"`;
  const shell = spawn('sh', ['-c', watch, 'sh', ...command], { stdio: ['pipe', 'ignore', 'ignore'] });
  // Without a shell, as on Windows, only stop() ends the started process.
  shell.on('error', () => {});
  shell.unref();
  (shell.stdin as Socket).unref();
  return () => shell.kill('SIGKILL');
}
