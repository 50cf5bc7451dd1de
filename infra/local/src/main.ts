import { mkdir } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { generateInternalKeys } from '@attribution/auth';
import { authorityFilesOf } from '@attribution/certificates';
import { noteRunning } from '@attribution/ops/running';
import { registeredNames } from '@attribution/registry';
import { createLogger, delayFullCollections, observeProcess, onStopSignal, readConfig } from '@attribution/runtime';
import { type PostgresServer, startPostgres } from '@attribution/servers';
import { seedDemo } from './demo.ts';
import { type DemoDevices, startDemoDevices } from './demo-devices.ts';
import { FolderInUse, lockFolder } from './lock.ts';
import { startPlatform } from './platform.ts';
import { nextFreePort, portProblem } from './ports.ts';
import { localSecrets } from './secrets.ts';
import { localSettings } from './settings.ts';

const { values: flags } = parseArgs({ options: { demo: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
if (flags.help) {
  console.log(
    'npm start [-- --demo]   Runs the whole platform on this machine. --demo adds an account with sample data, and devices that run.',
  );
  process.exit(0);
}

const config = readConfig(localSettings, process.env);
const say = (line: string) => console.error(`· ${line}`);
const began = performance.now();
delayFullCollections();
observeProcess();

const simulated = config.STRIPE_SECRET_KEY === undefined;
await requireFreePort('PORT', config.HOST, config.PORT);
await requireFreePort('DEVICE_PORT', config.HOST, config.DEVICE_PORT);
if (simulated && config.PAYMENTS_PORT !== undefined)
  await requireFreePort('PAYMENTS_PORT', config.HOST, config.PAYMENTS_PORT);
const paymentsPort = config.PAYMENTS_PORT ?? (await nextFreePort(config.HOST, config.PORT + 1));
const paymentsUrl = `http://${config.HOST}:${paymentsPort}`;
const directory = resolve(config.LOCAL_DIR);
await mkdir(directory, { recursive: true, mode: 0o700 });
const unlock = takeFolder();
const secrets = await localSecrets(directory);
const logger = createLogger({ name: 'platform', level: config.LOG_LEVEL, pretty: true });

say('Starting PostgreSQL');
const postgres = await startPostgres({
  directory: join(directory, 'postgres'),
  password: secrets.postgres_password,
  say,
}).catch(exitWithError);
say('Starting the services and the gateway');
const mailDirectory = join(directory, 'mail');
const paymentsFile = join(directory, 'payments.sqlite');
await mkdir(mailDirectory, { recursive: true });
const internalKeys = generateInternalKeys();
const platform = await startPlatform({
  internalKeys,
  database: (service) => databaseOf(postgres, service),
  secrets,
  mailDirectory,
  mediaDirectory: join(directory, 'media'),
  payments: { file: paymentsFile, url: paymentsUrl },
  host: config.HOST,
  port: config.PORT,
  devicePort: config.DEVICE_PORT,
  logger,
  environment: process.env,
}).catch(async (error: unknown) => {
  await postgres.stop();
  return exitWithError(error);
});

await noteRunning(directory, {
  databases: Object.fromEntries(registeredNames.map((service) => [service, postgres.url(service)])),
  environment: { SIMULATED_PAYMENTS_FILE: paymentsFile },
});

let demoDevices: DemoDevices | undefined;
onStopSignal(async () => {
  console.error('\n· Stopping: finishing requests in progress');
  await demoDevices?.stop();
  await platform.stop();
  await postgres.stop();
  unlock();
  console.error('· Stopped. All data stays in place for the next start.');
});

const demo = flags.demo ? await seedDemo(platform.url, mailDirectory, say) : undefined;
if (demo) demoDevices = await startDemoDevices({ platform, internalKeys, credentials: demo, directory, say });
printTable();

function printTable(): void {
  const shown = (path: string) => relative(process.cwd(), path) || '.';
  const rows = [
    ['API', `${platform.url}/v2`],
    ['Reference', `${platform.url}/docs/`],
    ['Health', `${platform.url}/healthz`],
    ['Devices', `${platform.devices.url}/v2/device`],
    ['Device CA', `${shown(authorityFilesOf(directory).root)}   the root that devices trust`],
    ['Mail', `${shown(mailDirectory)}/   one .eml file a message`],
    ['Payments', simulated ? `${paymentsUrl}   simulated: pages to pay on, with test cards` : 'Stripe'],
    ['Data', `${shown(directory)}/   kept between starts; delete it to start afresh`],
    ...(demo ? [['Demo login', `${demo.email}   password: ${demo.password}`]] : []),
    ...(demoDevices ? [['Demo devices', `${shown(demoDevices.playLog)}   what their screens have shown`]] : []),
    ['Stop', 'Ctrl-C'],
  ];
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.error(`\n  The platform runs (ready in ${seconds} s).\n`);
  for (const [name = '', value] of rows) console.error(`  ${name.padEnd(12)}${value}`);
  console.error('');
}

async function databaseOf(server: PostgresServer, service: string): Promise<string> {
  await server.createDatabase(service);
  return server.url(service);
}

function takeFolder(): () => void {
  try {
    return lockFolder(directory);
  } catch (error) {
    if (!(error instanceof FolderInUse)) throw error;
    console.error(
      `\nThe platform runs here already: ${error.message}.\nStop that one, or choose another folder: LOCAL_DIR=.local2 PORT=8081 npm start`,
    );
    process.exit(1);
  }
}

async function requireFreePort(setting: string, host: string, port: number): Promise<void> {
  const problem = await portProblem(host, port);
  if (!problem) return;
  const reason = problem.code === 'EADDRINUSE' ? 'is taken by another program' : `cannot be used (${problem.code})`;
  console.error(
    `\nPort ${port} ${reason}. Stop that program, or choose another port: ${setting}=${port + 10} npm start`,
  );
  process.exit(1);
}

function exitWithError(error: unknown): never {
  console.error(`\nThe platform could not start: ${error instanceof Error ? error.message : String(error)}`);
  unlock();
  process.exit(1);
}
