import { openOneProcess } from '../crash/worlds/one-process.ts';
import type { Lab } from '../experiment.ts';
import { openSeparate } from '../separate/world.ts';

/** What is attacked: a running platform whose processes have the heap that they have in the cluster. */
export interface Ground {
  readonly url: string;
  readonly mailDirectory: string;
  /** Those that run now. */
  processes(): readonly { readonly name: string; readonly pid: number }[];
  /** The names of processes that ended by themselves. */
  deaths(): readonly string[];
  close(): Promise<void>;
}

/** In MB, as in k8s/base. */
export const clusterLimits = { heap: 256, semiSpace: 16, memory: 512 } as const;
const heapOptions = [
  `--max-old-space-size=${clusterLimits.heap}`,
  `--max-semi-space-size=${clusterLimits.semiSpace}`,
  '--v8-pool-size=1',
] as const;

/** A hash costs a tenth of a second, so that there are queues to wait in. */
const hashing = { BCRYPT_COST: '10' } as const;
/** As in the cluster: no answer is checked against its contract. */
const production = { NODE_ENV: 'production', ALLOW_SIMULATED_PAYMENTS: 'true' } as const;

/** All services and the gateway in one process, with the heap of one. */
export async function openOnePlatform(): Promise<Ground> {
  const world = await openOneProcess(heapOptions, { ...hashing, ...production });
  const [{ member }] = world.victims;
  member.start();
  try {
    await world.ready();
  } catch (error) {
    await world.close();
    throw error;
  }
  const { url, mailDirectory, close } = world;
  return {
    url,
    mailDirectory,
    processes: () => (member.running ? [{ name: 'platform', pid: member.pid }] : []),
    deaths: () => (member.running ? [] : ['platform']),
    close,
  };
}

/** The processes of docker-compose.yml, one of each, whose NODE_OPTIONS are those of the cluster. */
export async function openProcesses(say: Lab['say']): Promise<Ground> {
  const starts = new Map<string, number>();
  const world = await openSeparate({
    say,
    replicas: 1,
    adjust(launch) {
      const { name, environment } = launch;
      starts.set(name, (starts.get(name) ?? 0) + 1);
      const hashes = environment.SERVICE === 'account' && environment.ROLE !== 'migrate';
      return hashes ? { ...launch, environment: { ...environment, ...hashing } } : launch;
    },
  });
  const { url, mailDirectory, close } = world;
  return {
    url,
    mailDirectory,
    processes: () => world.processes.all.filter(({ pid }) => pid !== 0),
    deaths: () => [...starts].flatMap(([name, times]) => Array.from({ length: times - 1 }, () => name)),
    close,
  };
}
