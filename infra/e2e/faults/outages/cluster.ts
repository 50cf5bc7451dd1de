import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type PostgresServer, startPostgres } from '@attribution/servers';

/**
 * How a server ends: `fast` says goodbye to its clients, `immediate` cuts them off and recovers at its next start,
 * `kill` does not get to do anything.
 */
export const endings = ['fast', 'immediate', 'kill'] as const;
export type ClusterEnding = (typeof endings)[number];

/** A durable Postgres of the experiment's own, which is gone and comes back at the same port. */
export interface Cluster {
  /** Makes the database exist and returns its URL. */
  database(name: string): Promise<string>;
  /** Of one database, as the superuser. */
  url(database: string): string;
  readonly port: number;
  end(how: ClusterEnding): Promise<void>;
  /** Resolves when it takes connections again. */
  start(): Promise<void>;
  /** Every process of it stands still: connections open, and nothing answers on them. */
  freeze(): Promise<void>;
  thaw(): void;
  /** Ends it for good, and takes its files away. */
  remove(): Promise<void>;
}

const signals = { fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const;

export async function startCluster({ password = 'outages', connections = 150 } = {}): Promise<Cluster> {
  const parent = await mkdtemp(join(tmpdir(), 'outage-postgres-'));
  const directory = join(parent, 'cluster');
  const launch = (port?: number) =>
    startPostgres({ directory, password, settings: { max_connections: String(connections) }, ...(port && { port }) });
  let server: PostgresServer = await launch();
  const postmaster = async () => Number((await readFile(join(directory, 'postmaster.pid'), 'utf8')).split('\n')[0]);
  const frozen: number[] = [];

  function thaw(): void {
    for (const pid of frozen.splice(0).reverse()) signal(pid, 'SIGCONT');
  }
  // What stands still would not hear that we are gone.
  process.on('exit', thaw);

  return {
    async database(name) {
      await server.createDatabase(name);
      return server.url(name);
    },
    url: (database) => server.url(database),
    get port() {
      return server.port;
    },
    async end(how) {
      const pid = await postmaster();
      const family = await processesOf(pid);
      process.kill(pid, signals[how]);
      while (family.some((one) => signal(one, 0))) await sleep(10);
    },
    async start() {
      server = await launch(server.port);
    },
    async freeze() {
      // The parent first, so that no child is born meanwhile.
      for (const pid of await processesOf(await postmaster())) if (signal(pid, 'SIGSTOP')) frozen.push(pid);
    },
    thaw,
    async remove() {
      thaw();
      process.off('exit', thaw);
      await server.stop();
      await rm(parent, { recursive: true, force: true });
    },
  };
}

/** False where there is no such process any more. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** A process and its children, by Linux's own list. */
async function processesOf(parent: number): Promise<number[]> {
  const children: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    // The name of the program, in brackets, may have anything in it.
    if (Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]) === parent) children.push(Number(name));
  }
  return [parent, ...children];
}
