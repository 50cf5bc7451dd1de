import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { tether } from '@attribution/servers';

const root = resolve(import.meta.dirname, '../../..');

/** What a process is started with. */
export interface Launch {
  /** The service of the Compose file, and which of its replicas: `account-api-1`. */
  readonly name: string;
  /** As in the Compose file: `node`, its arguments and the program, from the checkout's root. */
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

export interface MemberOptions extends Launch {
  /** The file that has what it writes; begun anew with the first start. */
  readonly log: string;
  /** Where it is asked whether it lives. A process that does one thing and ends has none. */
  readonly health?: string;
  /** Whether it is started again when it ends unasked. */
  readonly restart: boolean;
  readonly say: (line: string) => void;
  /** Asked before each start what it is to be started with instead. */
  readonly adjust?: (launch: Launch) => Launch;
  /** Told after each start. */
  readonly onStart?: () => void;
}

/** An exit code, or the signal that ended it. */
export type Ending = number | NodeJS.Signals;

/** One process of the fleet, and those that take its place. */
export interface Member {
  readonly name: string;
  /** Of the one that runs, or ran last. */
  readonly pid: number;
  start(): void;
  /** Resolves when it lives, or has done its one thing; rejects, with the end of its log, when it cannot, or at the signal. */
  ready(ms: number, signal?: AbortSignal): Promise<void>;
  /** Ends it for good, at first kindly. Resolves with how it ended. */
  stop(): Promise<Ending>;
}

/** What a process has of this one's environment: besides the path, where Node keeps what it has compiled. */
function inherited(): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE && { NODE_COMPILE_CACHE }) };
}

/** Milliseconds: before one that ended is started again, and what it has to stop, as the Compose file says. */
const pause = 300;
const patience = 12_000;

export function createMember(options: MemberOptions): Member {
  const { name, say } = options;
  let child: ChildProcess | undefined;
  let ending: Promise<Ending> = Promise.resolve(0);
  let ended: Ending | undefined;
  let stopping = false;
  let begun = false;

  function start(): void {
    const log = openSync(options.log, begun ? 'a' : 'w', 0o600);
    begun = true;
    ended = undefined;
    const { adjust = (launch) => launch } = options;
    const { command, environment } = adjust({ name, command: options.command, environment: options.environment });
    const [program = 'node', ...args] = command;
    const started = spawn(program === 'node' ? process.execPath : program, args, {
      cwd: root,
      env: { ...inherited(), ...environment },
      stdio: ['ignore', log, log],
      detached: true, // The Ctrl-C of a terminal is for us, who stop the fleet in its order.
    });
    closeSync(log);
    child = started;
    const release = started.pid === undefined ? () => {} : tether(['kill', String(started.pid)]);
    ending = once(started, 'exit').then(
      ([code, signal]) => (code ?? signal) as Ending,
      () => 1, // It could not be started at all.
    );
    void ending.then(async (how) => {
      ended = how;
      release();
      if (stopping || !options.restart) return;
      say(`${name} ended (${how}); starting it again. Its log: ${options.log}`);
      await sleep(pause);
      if (!stopping) start();
    });
    options.onStart?.();
  }

  async function failure(what: string): Promise<Error> {
    const text = await readFile(options.log, 'utf8').catch(() => '');
    return new Error(`${name} ${what}\n${text.trimEnd().split('\n').slice(-12).join('\n')}\n(${options.log})`);
  }

  async function lives(url: string): Promise<boolean> {
    const answer = await fetch(url, { signal: AbortSignal.timeout(2_000) }).catch(() => undefined);
    await answer?.arrayBuffer().catch(() => {});
    return answer?.ok ?? false;
  }

  return {
    name,
    get pid() {
      return child?.pid ?? 0;
    },
    start,
    async ready(ms, signal) {
      const { health } = options;
      for (const deadline = Date.now() + ms; ; await sleep(100)) {
        signal?.throwIfAborted();
        if (health === undefined && ended === 0) return;
        if (health !== undefined && (await lives(health))) return;
        if (health === undefined && ended !== undefined) throw await failure(`failed (${ended})`);
        if (Date.now() > deadline) throw await failure('does not become ready');
      }
    },
    async stop() {
      stopping = true;
      if (ended === undefined) child?.kill('SIGTERM');
      const late = setTimeout(() => child?.kill('SIGKILL'), patience);
      const how = await ending;
      clearTimeout(late);
      return how;
    },
  };
}
