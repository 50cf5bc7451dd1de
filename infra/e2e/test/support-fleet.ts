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
  /** The long-running processes, as the program lists them now. */
  processes(): Promise<FleetProcess[]>;
  /** The brokers of its topics, and their prefix. */
  readonly kafka: { readonly brokers: readonly string[]; readonly prefix: string };
  /** The process id of its Postgres. */
  readonly postgres: number;
  /** What the program has written to the terminal so far. */
  output(): string;
  /** Runs a command of `npm run ops` on this fleet and returns its output. Rejects if its exit code is not 0. */
  ops(...words: string[]): Promise<string>;
  /** Stops it, as Ctrl-C does. Resolves with its exit code, or the signal that ended it. */
  stop(): Promise<Ending>;
  /** Stops it if it is still running, and deletes its data. */
  remove(): Promise<void>;
}

/** How long it may take to start, with its servers, and to stop. */
const timeoutsMs = { start: 240_000, stop: 90_000 };

/**
 * Runs `npm run fleet` as a person does, with its own folder and ports, on the Kafka and the Redis of the tests. The
 * processes have their real settings and their own Postgres.
 */
export async function startFleetProgram(replicas: number): Promise<FleetProgram> {
  const directory = await mkdtemp(join(tmpdir(), 'fleet-program-'));
  const kafka = { brokers: testServers.kafkaBrokers() ?? [], prefix: `${basename(directory)}.` };
  const secrets = completeSecrets({});
  const [gateway, devices, payments] = [String(await freePort()), String(await freePort()), String(await freePort())];
  const environment = {
    ...process.env,
    ...secrets,
    LOCAL_DIR: directory,
    GATEWAY_PORT: gateway,
    DEVICE_PORT: devices,
    PAYMENTS_PORT: payments,
    KAFKA_TOPIC_PREFIX: kafka.prefix,
    // A process writes what it has compiled at its exit, a file a module: 32 at once would take longer than a stop may.
    NODE_COMPILE_CACHE: undefined,
  };
  const program = startProgram(['infra/fleet/src/main.ts', '--replicas', String(replicas)], environment);
  const remove = async () => {
    await program.stop();
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await program.untilOutput('The fleet runs', timeoutsMs.start);
    const urls = { url: `http://127.0.0.1:${gateway}`, deviceUrl: `https://127.0.0.1:${devices}` };
    return { ...(await describeFleet(directory, urls, secrets)), ...program, kafka, remove };
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
    output: () => text,
    async untilOutput(words: string, ms: number) {
      for (const deadline = Date.now() + ms; !text.includes(words); await sleep(100))
        if (ending !== undefined || Date.now() > deadline)
          throw new Error(`The fleet has not printed: ${words}\n${text}`);
    },
    async stop() {
      if (ending === undefined) program.kill('SIGTERM');
      const timer = setTimeout(() => program.kill('SIGKILL'), timeoutsMs.stop);
      const result = await ended;
      clearTimeout(timer);
      return result;
    },
  };
}

/** Describes the running fleet from the files in its folder. */
async function describeFleet(
  directory: string,
  { url, deviceUrl }: { readonly url: string; readonly deviceUrl: string },
  secrets: Readonly<Record<string, string>>,
) {
  const [fleet, mailDirectory] = [join(directory, 'fleet'), join(directory, 'mail')];
  const processes = async () => JSON.parse(await readFile(join(fleet, 'processes.json'), 'utf8')) as FleetProcess[];
  const databases = (await readRunning(directory))?.databases ?? {};
  const apis = (await processes()).filter(({ role }) => role === 'api');
  const keys = (name: string) => JSON.parse(secrets[name] ?? '') as KeySet;
  let turn = 0;
  const platform: Platform = {
    url,
    gateways: (await processes()).filter(({ service }) => service === 'gateway').length,
    crowded: true,
    client: createClient({ baseUrl: url }),
    devices: { url: deviceUrl, ca: await readFile(join(fleet, 'device-ca.pem'), 'utf8') },
    directory,
    mailbox: openMailbox(mailDirectory),
    mailDirectory,
    // Each call uses the next replica.
    inside(service, caller) {
      const replicas = apis.filter(({ service: name }) => name === service);
      const { url: baseUrl = '' } = replicas[turn++ % replicas.length] ?? {};
      const own = keys(`${caller.toUpperCase()}_INTERNAL_PRIVATE_KEYS`);
      const { sign } = internalOf(caller, own, keys('INTERNAL_PUBLIC_KEYS'));
      return createClient({ baseUrl, token: () => sign(service) });
    },
    rows: (service, sql) => rowsOf(databases[service] ?? '', sql),
    async logged() {
      const names = await readdir(join(fleet, 'logs'));
      return (await Promise.all(names.map((name) => readFile(join(fleet, 'logs', name), 'utf8')))).join('');
    },
    nextCode: authenticator(),
  };
  return {
    ...platform,
    processes,
    postgres: Number.parseInt(await readFile(join(fleet, 'postgres/postmaster.pid'), 'utf8'), 10),
    async ops(...words: string[]) {
      const env = { ...process.env, LOCAL_DIR: directory };
      return (await run(process.execPath, ['infra/ops/src/main.ts', ...words], { cwd: root, env })).stdout;
    },
  };
}

/**
 * Returns codes by the real time. The platform also accepts the codes of the previous and the next time step, so beginning
 * with the previous one gives three codes without waiting.
 */
function authenticator(): Platform['nextCode'] {
  const shown = new Map<string, number>();
  const now = () => Date.now() / 30_000;
  return async (secret) => {
    const last = shown.get(secret);
    // Not the previous step in the second half of the current one, because its code would soon be refused.
    const step = last === undefined ? Math.floor(now() - 0.5) : last + 1;
    while (step > Math.floor(now()) + 1) await sleep(100);
    shown.set(secret, step);
    return generateSync({ secret, epoch: step * 30 });
  };
}
