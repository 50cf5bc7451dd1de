import { renameSync, writeFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { FolderInUse, lockFolder, portProblem } from '@attribution/local';
import { noteRunning } from '@attribution/ops/running';
import { onStopSignal } from '@attribution/runtime';
import { type ComposeFile, ownServices, readCompose } from './compose-file.ts';
import { startFleet } from './fleet.ts';
import { deviceRootIn, secretsIn } from './secrets.ts';
import { startServers } from './servers.ts';

const help = `npm run fleet [-- --replicas 2]
  Runs the processes of docker-compose.yml on this machine, without containers: the same commands in the same
  environment, with a Postgres, a Kafka and a Redis on this machine. --replicas: how many there are of each process.
  LOCAL_DIR is the folder of all data (.local); GATEWAY_PORT, DEVICE_PORT and PAYMENTS_PORT are the ports to reach it at (8080, 8443, 8081).`;

const { values: flags } = parseArgs({
  options: { replicas: { type: 'string', default: '1' }, help: { type: 'boolean', short: 'h' } },
});
if (flags.help) {
  console.log(help);
  process.exit(0);
}
const replicas = Number(flags.replicas);
if (!Number.isInteger(replicas) || replicas < 1 || replicas > 9)
  exitWithError(`--replicas is a number from 1 to 9\n\n${help}`);

const root = resolve(import.meta.dirname, '../../..');
const began = performance.now();
const say = (line: string) => console.error(`· ${line}`);
const local = resolve(process.env.LOCAL_DIR ?? '.local');
const directory = join(local, 'fleet');
const mailDirectory = join(local, 'mail');
const deviceRoot = join(directory, 'device-ca.pem');

/** Functions that stop what was started, in the order of starting. */
const stops: (() => unknown)[] = [];
const stopAll = async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
};
/** Processes that did not exit with 0. */
const failedStops: string[] = [];
let stopping = false;
onStopSignal(async () => {
  stopping = true;
  console.error('\n· Stopping: finishing requests in progress');
  await stopAll();
  console.error('· Stopped. All data stay in place for the next start.');
  if (failedStops.length === 0) return;
  say(`These did not stop in time, or failed: ${failedStops.join(', ')}. Their logs: ${join(directory, 'logs')}`);
  process.exit(1);
}, 60_000);

try {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  stops.push(lockFolder(local));
  await run();
} catch (error) {
  if (!stopping) await fail(error); // Otherwise a signal stopped it while it was starting.
}

async function fail(error: unknown): Promise<never> {
  const reason =
    error instanceof FolderInUse
      ? `It runs here already: ${error.message}.`
      : String(error instanceof Error ? error.message : error);
  await stopAll();
  exitWithError(`The fleet could not start: ${reason}`);
}

async function run(): Promise<void> {
  const values = await secretsIn(join(root, '.env'), say, process.env);
  const file = readCompose(await readFile(join(root, 'docker-compose.yml'), 'utf8'), values);
  await requireFreePorts(file);
  await writeFile(deviceRoot, deviceRootIn(values));
  say('Starting Postgres, Kafka and Redis');
  const servers = await startServers({ file, directory, cache: join(root, '.cache'), mailDirectory, say });
  stops.push(() => servers.stop());
  const list = join(directory, 'processes.json');
  const cancelStart = new AbortController();
  const starting = startFleet({
    file,
    directory,
    replicas,
    ownSessions: process.stdin.isTTY, // Ctrl-C must reach only this process, which stops the fleet in order.
    signal: cancelStart.signal,
    servers: servers.addresses,
    say,
    onChange: (processes) => writeAtomically(list, `${JSON.stringify(processes, null, 2)}\n`),
  });
  stops.push(async () => {
    cancelStart.abort();
    const fleet = await starting.catch(() => undefined);
    for (const [name, how] of (await fleet?.stop()) ?? []) if (how !== 0) failedStops.push(`${name} (${how})`);
  });
  const fleet = await starting;
  await noteRunning(local, notes(file, fleet.addresses));
  printTable(file, servers.found, list);
}

/** Replaces the file synchronously: processes start at the same time, and readers must find the newest list, complete. */
function writeAtomically(file: string, text: string): void {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
}

/** What `npm run ops` needs to find the databases. It comes as their owners, as the migrations do. */
function notes(file: ComposeFile, addresses: ReadonlyMap<string, string>) {
  const urls = [...ownServices(file).values()].flatMap(({ environment: { SERVICE, ROLE, DATABASE_URL } }) => {
    if (ROLE !== 'migrate') return [];
    const url = DATABASE_URL?.replace('postgres:5432', addresses.get('postgres:5432') ?? '');
    return SERVICE && url ? [[SERVICE, url] as const] : [];
  });
  const payments = join(directory, 'volumes/payments/payments.sqlite');
  return { databases: Object.fromEntries(urls), environment: { SIMULATED_PAYMENTS_FILE: payments } };
}

async function requireFreePorts(file: ComposeFile): Promise<void> {
  for (const [name, { ports }] of ownServices(file)) {
    for (const { published } of ports)
      if (await portProblem('127.0.0.1', published)) throw new Error(`port ${published}, for ${name}, is taken.`);
  }
}

function printTable(file: ComposeFile, found: readonly (readonly [string, string])[], list: string): void {
  const shown = (path: string) => relative(process.cwd(), path) || '.';
  const url = `http://localhost:${file.services.gateway?.ports[0]?.published}`;
  const rows = [
    ['API', `${url}/v2`],
    ['Reference', `${url}/docs/`],
    ['Health', `${url}/healthz`],
    ['Devices', `https://localhost:${file.services.ingress?.ports[0]?.published}/v2/device`],
    ['Device CA', `${shown(deviceRoot)}   the root that devices trust`],
    ['Mail', `${shown(mailDirectory)}/   one .eml file a message`],
    [
      'Payments',
      `http://localhost:${file.services['billing-worker']?.ports[0]?.published}   simulated: pages to pay on, with test cards`,
    ],
    ...found,
    ['Processes', `${shown(list)}   each with its pid, address and log`],
    ['Data', `${shown(directory)}/   kept between starts; delete it to start afresh`],
    ['Operate', `${process.env.LOCAL_DIR ? `LOCAL_DIR=${process.env.LOCAL_DIR} ` : ''}npm run ops -- help`],
    ['Stop', 'Ctrl-C'],
  ] as const;
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.error(`\n  The fleet runs, ${replicas} of each process (ready in ${seconds} s).\n`);
  for (const [name, value] of rows) console.error(`  ${name.padEnd(12)}${value}`);
  console.error('');
}

function exitWithError(message: string): never {
  console.error(`\n${message}`);
  process.exit(1);
}
