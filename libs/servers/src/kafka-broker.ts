import { randomBytes } from 'node:crypto';
import { access, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Child, startChild } from './child.ts';
import { findJava, MIN_JAVA } from './java.ts';
import { type JarOptions, kafkaJars } from './kafka-jars.ts';
import { kafkaTrouble } from './kafka-ping.ts';
import { nodeSettings, properties } from './kafka-settings.ts';
import { freePort, isFree } from './port.ts';
import { run, tail } from './which.ts';

export interface Broker {
  brokers: string[];
  /** Ends the JVM, and keeps the data. It may be called again. */
  stop(): Promise<void>;
  /** Ends the JVM, if it is running, and starts another with the same ports and data. */
  restart(): Promise<void>;
  /** Sends the JVM a signal, such as SIGKILL, or SIGSTOP to make it hang. */
  signal(name: NodeJS.Signals): void;
}

export interface BrokerOptions extends JarOptions {
  /** The directory of the data, the settings and the log (kafka.log). It is created if it is missing, and belongs to one broker. */
  directory: string;
  /** Default: any free port. */
  port?: number;
  /** A second listener, with TLS and a password: its settings by Kafka's names, such as `ssl.keystore.location`. */
  secure?: { readonly port: number; readonly settings: Readonly<Record<string, string>> };
}

const START_MS = 240_000;
const JVM = [
  '-Xmx512m',
  // Without the optimizing compiler it starts a quarter faster.
  '-XX:TieredStopAtLevel=1',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
  '-Dorg.slf4j.simpleLogger.showDateTime=true',
  "-Dorg.slf4j.simpleLogger.dateTimeFormat=yyyy-MM-dd'T'HH:mm:ss.SSS",
];

/** Runs a single KRaft node of Kafka on 127.0.0.1, without Docker. Needs Java, and Maven the first time. */
export async function startKafka(options: BrokerOptions): Promise<Broker> {
  const java = await findJava();
  if (java === undefined) throw new Error(`Java ${MIN_JAVA} or newer, which Kafka needs, was not found`);
  const classes = ['-cp', join(await kafkaJars(options), '*')];
  const directory = resolve(options.directory);
  const port = options.port ?? (await freePort());
  // Otherwise a server that is already running would be taken for this one.
  if (!(await isFree(port))) throw new Error(`Port ${port} of 127.0.0.1, meant for Kafka, is taken`);
  const settingsFile = await prepare(directory, port, options.secure);
  if (!(await isFormatted(directory))) {
    options.say?.('Kafka: formatting its storage…');
    // Joined to the option, as an id may begin with a dash.
    const id = `--cluster-id=${randomBytes(16).toString('base64url')}`;
    const format = ['kafka.tools.StorageTool', 'format', '--standalone', id, '-c', settingsFile];
    const { ok, output } = await run(java.program, [...JVM, ...classes, ...format], { ms: START_MS });
    if (!ok) throw new Error(`Kafka could not format its storage.\n${tail(output)}`);
  }

  const address = `127.0.0.1:${port}`;
  const launch = async (): Promise<Child> => {
    options.say?.(`Kafka: starting on port ${port}…`);
    const server = await startChild({
      name: 'Kafka',
      program: java.program,
      args: [...JVM, ...classes, 'kafka.Kafka', settingsFile],
      log: join(directory, 'kafka.log'),
    });
    await server.ready(() => kafkaTrouble(address), START_MS);
    return server;
  };
  let server = await launch();
  let turn = Promise.resolve();
  /** A stop() during a restart() must wait for the new JVM to end it. */
  const inTurn = (work: () => Promise<void>) => (turn = turn.then(work, work));
  return {
    brokers: [address],
    stop: () => inTurn(() => server.stop()),
    restart: () =>
      inTurn(async () => {
        await server.stop();
        server = await launch();
      }),
    signal: (name) => server.signal(name),
  };
}

/** Writes the settings each time, because the ports may differ from those of an earlier run. */
async function prepare(directory: string, port: number, secure: BrokerOptions['secure']): Promise<string> {
  await mkdir(directory, { recursive: true });
  let controllerPort = await freePort();
  while (controllerPort === port) controllerPort = await freePort();
  const settings: Record<string, string> = {
    ...nodeSettings({ port, controllerPort, data: dataOf(directory) }),
    'controller.quorum.bootstrap.servers': `127.0.0.1:${controllerPort}`,
  };
  if (secure) addSecure(settings, secure);
  const file = join(directory, 'server.properties');
  await writeFile(file, properties(settings));
  return file;
}

function addSecure(
  settings: Record<string, string>,
  { port, settings: own }: NonNullable<BrokerOptions['secure']>,
): void {
  for (const listeners of ['listeners', 'advertised.listeners']) settings[listeners] += `,SECURE://127.0.0.1:${port}`;
  settings['listener.security.protocol.map'] += ',SECURE:SASL_SSL';
  for (const [name, value] of Object.entries(own)) settings[`listener.name.secure.${name}`] = value;
}

const dataOf = (directory: string) => join(directory, 'data');

function isFormatted(directory: string): Promise<boolean> {
  return access(join(dataOf(directory), 'meta.properties')).then(
    () => true,
    () => false,
  );
}
