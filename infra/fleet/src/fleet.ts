import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { bundlesOf } from '@attribution/bundle';
import { commands, healthPath } from '@attribution/image';
import { freePort } from '@attribution/servers';
import { type Balancer, startBalancer } from './balancer.ts';
import { type ComposeFile, type ComposeService, endingServices, ownServices, startingOrder } from './compose-file.ts';
import { addressesIn, listeningPorts, localEnvironment } from './local-environment.ts';
import { createMember, type Ending, type Launch, type Member } from './member.ts';

export interface FleetOptions {
  readonly file: ComposeFile;
  /** The folder of the processes' files and logs. */
  readonly directory: string;
  /** How many there are of each process that keeps running. */
  readonly replicas: number;
  /** The addresses of the servers on this machine, by those in the Compose file. */
  readonly servers: ReadonlyMap<string, string>;
  readonly say: (line: string) => void;
  /** Whether bundles of the programs are started, which takes half as long. Default: their sources, as in the image. */
  readonly bundled?: boolean;
  /**
   * Whether each process has a session of its own, which a terminal's Ctrl-C does not reach. Linux may divide the processors
   * among sessions first (`sched_autogroup`, see sched(7)), so two dozen of them leave all that runs beside a twenty-fifth.
   * Default: all are in the caller's session.
   */
  readonly ownSessions?: boolean;
  /** When aborted, the start rejects and stops what has been started so far. */
  readonly signal?: AbortSignal;
  /**
   * Called before each start of a process, to change how it is started. `addresses` maps addresses of the Compose file to
   * those on this machine.
   */
  readonly adjust?: (launch: Launch, addresses: ReadonlyMap<string, string>) => Launch;
  /** Called after each start of a process. */
  readonly onChange?: (processes: readonly FleetProcess[]) => void;
}

/** A process that keeps running, and where to find it. */
export interface FleetProcess {
  readonly name: string;
  readonly service: string;
  readonly role: string;
  readonly pid: number;
  readonly url: string;
  /** The URL of its metrics. */
  readonly metrics: string;
  readonly log: string;
}

export interface Fleet {
  readonly processes: readonly FleetProcess[];
  /** Addresses on this machine, by those in the Compose file. */
  readonly addresses: ReadonlyMap<string, string>;
  /** Stops the processes in the reverse order of starting. Resolves to how each ended. */
  stop(): Promise<ReadonlyMap<string, Ending>>;
}

/** How long processes that start together may take: there are many of them. */
const startTimeoutMs = 120_000;

/** One replica of a service, and its ports on this machine by those of its container. */
interface Replica {
  readonly member: Member;
  readonly ports: ReadonlyMap<number, number>;
  describe(): FleetProcess;
}

/** Runs the Compose file's processes on this machine. Resolves when all of them are alive. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { file, directory, say, adjust = (launch) => launch } = options;
  const services = ownServices(file);
  const ending = endingServices(file);
  const replicasOf = (name: string) => (ending.has(name) ? 1 : options.replicas);
  await mkdir(join(directory, 'logs'), { recursive: true });
  const folders = await makeFolders(services, join(directory, 'volumes'));
  const fronts = await chooseFronts(services);
  const bundles = options.bundled ? await bundlesOf(Object.values(commands)) : new Map<string, string>();
  const addresses = new Map([
    ...options.servers,
    ...[...fronts].map(([address, port]) => [address, `127.0.0.1:${port}`] as const),
  ]);

  const waves: Replica[][] = [];
  const balancers: Balancer[] = [];
  const running = () => waves.flat().filter(({ ports }) => ports.size > 0);
  const processes = () => running().map((replica) => replica.describe());

  async function createReplica(name: string, service: ComposeService, number: number): Promise<Replica> {
    const isSingle = replicasOf(name) === 1;
    const targets = ending.has(name) ? [] : listeningPorts(service);
    const ports = new Map(
      await Promise.all(
        targets.map(async (target) => {
          const front = isSingle ? fronts.get(`${name}:${target}`) : undefined;
          return [target, front ?? (await freePort())] as const;
        }),
      ),
    );
    const environment = localEnvironment(service, { addresses, folders, ports });
    const [program = '', role = ''] = [environment.SERVICE, environment.ROLE];
    const url = `http://127.0.0.1:${environment.PORT}`;
    const replicaName = `${name}-${number}`;
    const log = join(directory, 'logs', `${replicaName}.log`);
    const member = createMember({
      name: replicaName,
      command: service.command.map((word) => bundles.get(word) ?? word),
      environment,
      log,
      ...(ports.size > 0 && { health: url + healthPath(program) }),
      restart: ports.size > 0,
      ownSession: options.ownSessions ?? false,
      say,
      adjust: (launch) => adjust(launch, addresses),
      onStart: () => options.onChange?.(processes()),
    });
    const metrics = `http://127.0.0.1:${environment.ADMIN_PORT ?? environment.PORT}/metrics`;
    return {
      member,
      ports,
      describe: () => ({ name: replicaName, service: program, role, pid: member.pid, url, metrics, log }),
    };
  }

  /** Puts a balancer in front of a service with several replicas. */
  async function balance(name: string, replicas: readonly Replica[]): Promise<void> {
    for (const [address, port] of fronts) {
      const target = Number(address.split(':')[1]);
      if (address !== `${name}:${target}` || replicas.length < 2) continue;
      const backends = replicas.map(({ ports, describe }) => ({ port: ports.get(target) ?? 0, url: describe().url }));
      balancers.push(await startBalancer(port, backends));
    }
  }

  async function startWave(names: readonly string[]): Promise<void> {
    const numbers = (name: string) => Array.from({ length: replicasOf(name) }, (_, index) => index + 1);
    const wave: Replica[] = [];
    waves.push(wave);
    for (const name of names) {
      const service = services.get(name);
      if (!service) continue;
      const replicas: Replica[] = [];
      for (const number of numbers(name)) replicas.push(await createReplica(name, service, number));
      wave.push(...replicas);
      await balance(name, replicas);
    }
    say(`Starting ${wave.map(({ member }) => member.name).join(', ')}`);
    for (const { member } of wave) member.start();
    await Promise.all(wave.map(({ member }) => member.ready(startTimeoutMs, options.signal)));
  }

  async function stop(): Promise<ReadonlyMap<string, Ending>> {
    const endings = new Map<string, Ending>();
    for (const wave of waves.toReversed())
      await Promise.all(wave.map(async ({ member }) => endings.set(member.name, await member.stop())));
    await Promise.all(balancers.map((balancer) => balancer.stop()));
    return endings;
  }

  try {
    for (const names of startingOrder(file)) await startWave(names);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    get processes() {
      return processes();
    },
    addresses,
    stop,
  };
}

/** Creates a folder for each volume of the Compose file. */
async function makeFolders(
  services: ReadonlyMap<string, ComposeService>,
  parent: string,
): Promise<Map<string, string>> {
  const volumes = [...services.values()].flatMap(({ volumes }) => volumes).filter(({ source }) => /^\w/.test(source));
  const folders = new Map(volumes.map(({ source, target }) => [target, join(parent, source)]));
  for (const folder of folders.values()) await mkdir(folder, { recursive: true });
  return folders;
}

/** Chooses a port of this machine for each address that an environment mentions or that the Compose file publishes. */
async function chooseFronts(services: ReadonlyMap<string, ComposeService>): Promise<Map<string, number>> {
  const fronts = new Map<string, number>();
  for (const [name, { ports }] of services)
    for (const { published, target } of ports) fronts.set(`${name}:${target}`, published);
  for (const address of addressesIn(services)) if (!fronts.has(address)) fronts.set(address, await freePort());
  return fronts;
}
