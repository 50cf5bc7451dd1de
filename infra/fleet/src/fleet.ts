import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { healthPath } from '@attribution/image';
import { freePort } from '@attribution/servers';
import { type Balancer, startBalancer } from './balancer.ts';
import { type ComposeFile, type ComposeService, endingServices, ownServices, startingOrder } from './compose-file.ts';
import { createMember, type Ending, type Launch, type Member } from './member.ts';
import { listeningPorts, placed, spokenOf } from './place.ts';

export interface FleetOptions {
  readonly file: ComposeFile;
  /** Of what the processes keep in files, and of their logs. */
  readonly directory: string;
  /** Of every process that stays. */
  readonly replicas: number;
  /** Where the servers are, by their addresses in the Compose file. */
  readonly servers: ReadonlyMap<string, string>;
  readonly say: (line: string) => void;
  /** Aborted, it stops what was started so far, and rejects. */
  readonly signal?: AbortSignal;
  /**
   * Asked before each start of a process what it is to be started with instead, to try what the Compose file does not
   * say. `addresses`: where on this machine those of the Compose file are.
   */
  readonly adjust?: (launch: Launch, addresses: ReadonlyMap<string, string>) => Launch;
  /** Told whenever a process was started. */
  readonly onChange?: (processes: readonly FleetProcess[]) => void;
}

/** A process that stays, as others may want to find it. */
export interface FleetProcess {
  readonly name: string;
  readonly service: string;
  readonly role: string;
  readonly pid: number;
  readonly url: string;
  /** Where it tells its metrics. */
  readonly metrics: string;
  readonly log: string;
}

export interface Fleet {
  readonly processes: readonly FleetProcess[];
  /** Where on this machine an address of the Compose file is. */
  readonly addresses: ReadonlyMap<string, string>;
  /** Stops those first that others do not need. Resolves with how each ended. */
  stop(): Promise<ReadonlyMap<string, Ending>>;
}

/** Milliseconds that a part of the fleet may take to come up: many programs start at once. */
const patience = 120_000;

/** One replica of a service, and where it is. */
interface Replica {
  readonly member: Member;
  readonly ports: ReadonlyMap<number, number>;
  describe(): FleetProcess;
}

/** Runs the Compose file's processes on this machine, and resolves when all of them live. */
export async function startFleet(options: FleetOptions): Promise<Fleet> {
  const { file, directory, say, adjust = (launch) => launch } = options;
  const services = ownServices(file);
  const ending = endingServices(file);
  const replicasOf = (name: string) => (ending.has(name) ? 1 : options.replicas);
  await mkdir(join(directory, 'logs'), { recursive: true });
  const folders = await makeFolders(services, join(directory, 'volumes'));
  const fronts = await chooseFronts(services);
  const addresses = new Map([
    ...options.servers,
    ...[...fronts].map(([there, port]) => [there, `127.0.0.1:${port}`] as const),
  ]);

  const waves: Replica[][] = [];
  const balancers: Balancer[] = [];
  const staying = () => waves.flat().filter(({ ports }) => ports.size > 0);
  const processes = () => staying().map((replica) => replica.describe());

  async function createReplica(name: string, service: ComposeService, number: number): Promise<Replica> {
    const alone = replicasOf(name) === 1;
    const targets = ending.has(name) ? [] : listeningPorts(service);
    const ports = new Map(
      await Promise.all(
        targets.map(async (target) => {
          const front = alone ? fronts.get(`${name}:${target}`) : undefined;
          return [target, front ?? (await freePort())] as const;
        }),
      ),
    );
    const environment = placed(service, { addresses, folders, ports });
    const [program = '', role = ''] = [environment.SERVICE, environment.ROLE];
    const url = `http://127.0.0.1:${environment.PORT}`;
    const called = `${name}-${number}`;
    const log = join(directory, 'logs', `${called}.log`);
    const member = createMember({
      name: called,
      command: service.command,
      environment,
      log,
      ...(ports.size > 0 && { health: url + healthPath(program) }),
      restart: ports.size > 0,
      say,
      adjust: (launch) => adjust(launch, addresses),
      onStart: () => options.onChange?.(processes()),
    });
    const metrics = `http://127.0.0.1:${environment.ADMIN_PORT ?? environment.PORT}/metrics`;
    return {
      member,
      ports,
      describe: () => ({ name: called, service: program, role, pid: member.pid, url, metrics, log }),
    };
  }

  /** With several of a service, one port before them all. */
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
    await Promise.all(wave.map(({ member }) => member.ready(patience, options.signal)));
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

/** Each volume of the Compose file is a folder here. */
async function makeFolders(
  services: ReadonlyMap<string, ComposeService>,
  parent: string,
): Promise<Map<string, string>> {
  const volumes = [...services.values()].flatMap(({ volumes }) => volumes).filter(({ source }) => /^\w/.test(source));
  const folders = new Map(volumes.map(({ source, target }) => [target, join(parent, source)]));
  for (const folder of folders.values()) await mkdir(folder, { recursive: true });
  return folders;
}

/** The port of this machine for each address that somebody speaks of, or that is to be reached from outside. */
async function chooseFronts(services: ReadonlyMap<string, ComposeService>): Promise<Map<string, number>> {
  const fronts = new Map<string, number>();
  for (const [name, { ports }] of services)
    for (const { published, target } of ports) fronts.set(`${name}:${target}`, published);
  for (const address of spokenOf(services)) if (!fronts.has(address)) fronts.set(address, await freePort());
  return fronts;
}
