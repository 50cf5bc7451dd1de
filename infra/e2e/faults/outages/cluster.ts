import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type PostgresServer, startPostgres } from '@attribution/servers';

/**
 * How the server is ended: `fast` closes its connections in order, `immediate` cuts them and recovers at the next start, and
 * `kill` is SIGKILL.
 */
export const endings = ['fast', 'immediate', 'kill'] as const;
export type ClusterEnding = (typeof endings)[number];

/** A durable Postgres for one experiment, which can be ended and restarted on the same port. */
export interface Cluster {
  /** Creates the database and returns its URL. */
  database(name: string): Promise<string>;
  /** The superuser's URL of a database. */
  url(database: string): string;
  readonly port: number;
  end(how: ClusterEnding): Promise<void>;
  /** Resolves when the server accepts connections again. */
  start(): Promise<void>;
  /** Suspends every process of the server: connections stay open, but nothing responds. */
  freeze(): Promise<void>;
  thaw(): void;
  /** Stops the server for good and deletes its files. */
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
  // A suspended server would not notice that this process has ended.
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
      // The parent first, so that it starts no further child.
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

/** Returns false if the process does not exist any more. */
function signal(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
}

/** The ids of a process and its children, from /proc. */
async function processesOf(parent: number): Promise<number[]> {
  const children: number[] = [];
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => '');
    // The fields after the program's name, which is in brackets and may contain anything.
    if (Number(stat.slice(stat.lastIndexOf(')')).split(' ')[2]) === parent) children.push(Number(name));
  }
  return [parent, ...children];
}
