import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tether } from '@attribution/servers';

const root = resolve(import.meta.dirname, '../../..');

/** How a process is started. */
export interface Launch {
  /** The service of the Compose file and the replica's number: `account-api-1`. */
  readonly name: string;
  /** As in the Compose file: `node`, its arguments and the program, relative to the checkout's root. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export interface MemberOptions extends Launch {
  /** The file for its output. The first start overwrites it, later starts append. */
  readonly log: string;
  /** The URL of its liveness check. A process that runs once and exits has none. */
  readonly health?: string;
  /** Whether it is started again when it ends by itself. */
  readonly restart: boolean;
  /** Whether the process has a session of its own: see `FleetOptions`. */
  readonly ownSession: boolean;
  readonly say: (line: string) => void;
  /** Called before each start, to change how the process is started. */
  readonly adjust?: (launch: Launch) => Launch;
  /** Called after each start. */
  readonly onStart?: () => void;
}

/** How a process ended: its exit code, or the signal that ended it. */
export type Ending = number | NodeJS.Signals;

/** One process of the fleet, which is started again when it ends. */
export interface Member {
  readonly name: string;
  /** The id of the process that runs, or ran last. */
  readonly pid: number;
  start(): void;
  /**
   * Resolves when the process is alive, or has exited with 0 if it runs once. Rejects with the end of its log when it fails
   * or takes too long, and when the signal is aborted.
   */
  ready(ms: number, signal?: AbortSignal): Promise<void>;
  /** Ends it for good, by SIGTERM and later SIGKILL. Resolves to how it ended. */
  stop(): Promise<Ending>;
}

/** The variables that a process inherits: the path, and the folder of Node's compile cache. */
function inherited(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}

const restartDelayMs = 300;
/** The same as `stop_grace_period` in the Compose file. */
const stopTimeoutMs = 20_000;

export function createMember(options: MemberOptions): Member {
  const { name, say } = options;
  let child: ChildProcess | undefined;
  let ending: Promise<Ending> = Promise.resolve(0);
  let ended: Ending | undefined;
  let stopping = false;
  let hasStarted = false;

  function start(): void {
    const log = openSync(options.log, hasStarted ? 'a' : 'w', 0o600);
    hasStarted = true;
    ended = undefined;
    const { adjust = (launch) => launch } = options;
    const { command, environment } = adjust({ name, command: options.command, environment: options.environment });
    const [program = 'node', ...args] = command;
    const started = spawn(program === 'node' ? process.execPath : program, args, {
      cwd: root,
      env: { ...inherited(), ...environment },
      stdio: ['ignore', log, log],
      detached: options.ownSession,
    });
    closeSync(log);
    child = started;
    const release = started.pid === undefined ? () => {} : tether(['kill', String(started.pid)]);
    ending = once(started, 'exit').then(
      ([code, signal]) => (code ?? signal) as Ending,
      () => 1, // The process could not be started.
    );
    void ending.then(async (how) => {
      ended = how;
      release();
      if (stopping || !options.restart) return;
      say(`${name} ended (${how}); starting it again. Its log: ${options.log}`);
      if (typeof how === 'number') say(`The end of it:\n${await lastLines()}`); // It was not killed: the reason is in there.
      await sleep(restartDelayMs);
      if (!stopping) start();
    });
    options.onStart?.();
  }

  async function lastLines(): Promise<string> {
    const text = await readFile(options.log, 'utf8').catch(() => '');
    return text.trimEnd().split('\n').slice(-12).join('\n');
  }

  async function failure(what: string): Promise<Error> {
    return new Error(`${name} ${what}\n${await lastLines()}\n(${options.log})`);
  }

  async function isAlive(url: string): Promise<boolean> {
    const response = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
    await response?.arrayBuffer().catch(() => {});
    return response?.ok ?? false;
  }

  return {
    name,
    get pid() {
      return child?.pid ?? 0;
    },
    start,
    async ready(ms, signal) {
      const { health } = options;
      for (const deadline = Date.now() + ms; ; await sleep(250)) {
        signal?.throwIfAborted();
        if (health === undefined && ended === 0) return;
        if (health !== undefined && (await isAlive(health))) return;
        if (health === undefined && ended !== undefined) throw await failure(`failed (${ended})`);
        if (Date.now() > deadline) throw await failure('does not become ready');
      }
    },
    async stop() {
      stopping = true;
      if (ended === undefined) child?.kill('SIGTERM');
      const killTimer = setTimeout(() => child?.kill('SIGKILL'), stopTimeoutMs);
      const how = await ending;
      clearTimeout(killTimer);
      return how;
    },
  };
}
