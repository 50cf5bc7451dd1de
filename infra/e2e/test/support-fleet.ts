import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { internalOf, type KeySet } from '@attribution/auth';
import { createClient } from '@attribution/contracts';
import { completeSecrets, type FleetProcess } from '@attribution/fleet';
import { readRunning } from '@attribution/ops/running';
import { freePort, tether } from '@attribution/servers';
import { openMailbox, testServers } from '@attribution/testing';
import { generateSync } from 'otplib';
import { type Platform, rowsOf } from './support-platform.ts';

const root = join(import.meta.dirname, '../../..');
const run = promisify(execFile);

type Ending = number | NodeJS.Signals;

export interface FleetProgram extends Platform {
  /** Those that stay, as the program lists them now. */
  processes(): Promise<FleetProcess[]>;
  /** Where its events are. */
  readonly kafka: { readonly brokers: readonly string[]; readonly prefix: string };
  /** The pid of its Postgres. */
  readonly postgres: number;
  /** What the program has told the terminal so far. */
  said(): string;
  /** What a command of `npm run ops` prints about this fleet. Rejects when that does not end with 0. */
  ops(...words: string[]): Promise<string>;
  /** Tells it to stop, as Ctrl-C does. Resolves with its exit code, or the signal that ended it. */
  stop(): Promise<Ending>;
  /** Stops it where that was not done, and takes its data away. */
  remove(): Promise<void>;
}

/** Milliseconds in which it has to come up, with its servers; and in which it has to be gone. */
const patience = { start: 240_000, stop: 90_000 };

/**
 * `npm run fleet`, as a person runs it, with a folder and ports of its own, on the Kafka and the Redis of the tests. The
 * processes have their real settings, and a Postgres that is made for them.
 */
export async function startFleetProgram(replicas: number): Promise<FleetProgram> {
  const directory = await mkdtemp(join(tmpdir(), 'fleet-program-'));
  const kafka = { brokers: testServers.kafkaBrokers() ?? [], prefix: `${basename(directory)}.` };
  const secrets = completeSecrets({});
  const [gateway, payments] = [String(await freePort()), String(await freePort())];
  const environment = {
    ...process.env,
    ...secrets,
    LOCAL_DIR: directory,
    GATEWAY_PORT: gateway,
    PAYMENTS_PORT: payments,
    KAFKA_TOPIC_PREFIX: kafka.prefix,
  };
  const program = startProgram(['infra/fleet/src/main.ts', '--replicas', String(replicas)], environment);
  const remove = async () => {
    await program.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await program.untilSaid('The fleet runs', patience.start);
    return { ...(await offeredBy(directory, `http://127.0.0.1:${gateway}`, secrets)), ...program, kafka, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

function startProgram(args: readonly string[], env: NodeJS.ProcessEnv) {
  const program = spawn(process.execPath, args, { cwd: root, env, stdio: ['ignore', 'ignore', 'pipe'] });
  const release = tether(['kill', String(program.pid)]);
  let text = '';
  program.stderr.setEncoding('utf8').on('data', (more: string) => {
    text += more;
  });
  let ending: Ending | undefined;
  const ended = once(program, 'close').then(([code, signal]) => {
    release();
    ending = (code ?? signal) as Ending;
    return ending;
  });
  return {
    said: () => text,
    async untilSaid(words: string, ms: number) {
      for (const deadline = Date.now() + ms; !text.includes(words); await sleep(100))
        if (ending !== undefined || Date.now() > deadline) throw new Error(`It has not said: ${words}\n${text}`);
    },
    async stop() {
      if (ending === undefined) program.kill('SIGTERM');
      const late = setTimeout(() => program.kill('SIGKILL'), patience.stop);
      const how = await ended;
      clearTimeout(late);
      return how;
    },
  };
}

/** What there is to be had of a fleet that runs in a folder. */
async function offeredBy(directory: string, url: string, secrets: Readonly<Record<string, string>>) {
  const [fleet, mailDirectory] = [join(directory, 'fleet'), join(directory, 'mail')];
  const processes = async () => JSON.parse(await readFile(join(fleet, 'processes.json'), 'utf8')) as FleetProcess[];
  const databases = (await readRunning(directory))?.databases ?? {};
  const apis = (await processes()).filter(({ role }) => role === 'api');
  const keys = (name: string) => JSON.parse(secrets[name] ?? '') as KeySet;
  let turn = 0;
  const offered: Platform = {
    url,
    gateways: (await processes()).filter(({ service }) => service === 'gateway').length,
    crowded: true,
    client: createClient({ baseUrl: url }),
    mailbox: openMailbox(mailDirectory),
    mailDirectory,
    // One replica after the other.
    inside(asked, caller) {
      const replicas = apis.filter(({ service }) => service === asked);
      const { url: baseUrl = '' } = replicas[turn++ % replicas.length] ?? {};
      const own = keys(`${caller.toUpperCase()}_INTERNAL_PRIVATE_KEYS`);
      const { sign } = internalOf(caller, own, keys('INTERNAL_PUBLIC_KEYS'));
      return createClient({ baseUrl, token: () => sign(asked) });
    },
    rows: (service, sql) => rowsOf(databases[service] ?? '', sql),
    async logged() {
      const names = await readdir(join(fleet, 'logs'));
      return (await Promise.all(names.map((name) => readFile(join(fleet, 'logs', name), 'utf8')))).join('');
    },
    nextCode: authenticator(),
  };
  return {
    ...offered,
    processes,
    postgres: Number.parseInt(await readFile(join(fleet, 'postgres/postmaster.pid'), 'utf8'), 10),
    async ops(...words: string[]) {
      const env = { ...process.env, LOCAL_DIR: directory };
      return (await run(process.execPath, ['infra/ops/src/main.ts', ...words], { cwd: root, env })).stdout;
    },
  };
}

/**
 * Codes by the real time. One of the step before and one of the next are accepted too: whoever begins with the former has
 * three without waiting.
 */
function authenticator(): Platform['nextCode'] {
  const shown = new Map<string, number>();
  const now = () => Date.now() / 30_000;
  return async (secret) => {
    const last = shown.get(secret);
    // The step before is not begun with when it is soon too long ago.
    const step = last === undefined ? Math.floor(now() - 0.5) : last + 1;
    while (step > Math.floor(now()) + 1) await sleep(100);
    shown.set(secret, step);
    return generateSync({ secret, epoch: step * 30 });
  };
}
