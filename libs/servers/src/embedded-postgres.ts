import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, open, readdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { basename, dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { childEnvironment, chooseGuise, type Guise, give, run } from './embedded-postgres.privileges.ts';

export interface PostgresServer {
  /** The connection URL of a database, with user and password. */
  url(database: string): string;
  port: number;
  /** Creates the database unless it exists. Callers may race. */
  createDatabase(name: string, options?: { template?: string }): Promise<void>;
  /** Shuts down, more forcefully after a while: 16 s at most. It may be called again. */
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** The cluster's directory. It is initialized if it is missing or empty. The log is beside it, as `<directory>.log`. */
  directory: string;
  /** The password of the superuser `platform`. */
  password: string;
  /** Default: any free port. */
  port?: number;
  /** Default true; false never waits for the disk, so a crash of the machine may lose everything (tests). */
  durable?: boolean;
  /** Further settings of the server, such as max_connections. */
  settings?: Record<string, string>;
  /** Called before steps that take time. */
  say?: (line: string) => void;
}

interface Programs {
  initdb: string;
  postgres: string;
}

const USER = 'platform';
const START_MS = 30_000;
const LOG_BYTES = 10 << 20;
/** Fast shutdown, immediate shutdown (which itself kills its children after 5 s), and SIGKILL. */
const SHUTDOWNS = [
  ['SIGINT', 8_000],
  ['SIGQUIT', 6_000],
  ['SIGKILL', 2_000],
] as const;

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '64MB',
  max_connections: '200',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // By default the log contains failed statements and the values of violated keys.
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
};
const NOT_DURABLE = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };

/**
 * Runs PostgreSQL 18 from the binaries of `@embedded-postgres/*`, without that project's wrapper, which ends the server at
 * the first signal. The caller must ensure that no other live process uses the directory.
 */
export async function startPostgres(options: PostgresOptions): Promise<PostgresServer> {
  const programs = await findPrograms();
  const parent = dirname(resolve(options.directory));
  await mkdir(parent, { recursive: true });
  const directory = await realpath(options.directory).catch(async () =>
    join(await realpath(parent), basename(resolve(options.directory))),
  );
  let guise: Guise;
  if (await isCluster(directory)) {
    await stopLeftOver(directory, options.say);
    guise = await chooseGuise(directory, programs.postgres);
  } else {
    options.say?.('Creating the database cluster…');
    guise = await createCluster(directory, programs, options);
  }
  for (let attempt = 1; ; attempt++) {
    const port = options.port ?? (await freePort());
    try {
      return await launch(directory, programs.postgres, guise, port, options);
    } catch (error) {
      const { message } = error as Error;
      const taken = message.includes('Address already in use');
      if (taken && options.port !== undefined) {
        throw new Error(`Port ${port} of 127.0.0.1, meant for PostgreSQL, is taken.`, { cause: error });
      }
      // The shared memory is still in use while processes of a killed server are ending.
      if (attempt === 5 || !(taken || message.includes('pre-existing shared memory block'))) throw error;
      if (!taken) await sleep(1_000);
    }
  }
}

async function findPrograms(): Promise<Programs> {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    // By the path, because a bundle of this module is elsewhere.
    const path = createRequire(import.meta.url).resolve(name);
    return (await import(pathToFileURL(path).href)) as Programs;
  } catch (error) {
    throw new Error(
      `The PostgreSQL binaries for this machine (${name}) are not installed. Install the optional dependencies, ` +
        'or give the *_DATABASE_URL of a database server.',
      { cause: error },
    );
  }
}

async function isCluster(directory: string): Promise<boolean> {
  const names = await readdir(directory).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  if (names.length > 0 && !names.includes('PG_VERSION')) {
    throw new Error(`${directory} is neither empty nor a PostgreSQL cluster.`);
  }
  return names.length > 0;
}

/** Runs initdb in a temporary directory, so that an interrupted one leaves nothing under the real name. */
async function createCluster(directory: string, programs: Programs, options: PostgresOptions): Promise<Guise> {
  const beginning = `${directory}.new-`;
  const names = (await readdir(dirname(directory))).filter((name) => name.startsWith(basename(beginning)));
  for (const name of names) await remove(join(dirname(directory), name));
  // A new name each time, as an initdb that outlived its parent may still be writing to the old directory.
  const fresh = await mkdtemp(beginning);
  const passwordFile = `${fresh}.password`;
  try {
    const guise = await chooseGuise(fresh, programs.postgres);
    await writeFile(passwordFile, `${options.password}\n`, { mode: 0o600, flag: 'wx' });
    await give(passwordFile, guise.owner);
    await run(guise, programs.initdb, [
      ...['-D', fresh, '-U', USER, `--pwfile=${passwordFile}`, '--auth=scram-sha-256', '--no-instructions'],
      // PostgreSQL's own C.UTF-8 has the same order on every system, and upper and lower case beyond ASCII.
      ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      ...(options.durable === false ? ['--no-sync'] : []),
    ]);
    await rename(fresh, directory);
    return guise;
  } finally {
    await remove(passwordFile);
    await remove(fresh);
  }
}

async function remove(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
}

/** Ends the server that a killed process left running on the directory, or removes the pid file of a dead one. */
async function stopLeftOver(directory: string, say: PostgresOptions['say']): Promise<void> {
  const file = join(directory, 'postmaster.pid');
  const pid = Number((await readFile(file, 'utf8').catch(() => '')).split('\n')[0]);
  if (pid > 0 && (await isServerOf(directory, pid))) {
    say?.('Stopping the database server that an earlier run left behind…');
    await shutDown(pid, async () => !(await isServerOf(directory, pid)));
    if (await isServerOf(directory, pid)) throw new Error(`PostgreSQL (process ${pid}) on ${directory} does not stop.`);
  }
  // If another process now has this pid, the file would keep the server from starting.
  await rm(file, { force: true });
}

/** Whether the process is a PostgreSQL server on this directory. The system reuses pids. */
async function isServerOf(directory: string, pid: number): Promise<boolean> {
  if (process.platform === 'linux') {
    // Unlike /proc/<pid>/exe, this can be read by root without CAP_SYS_PTRACE, as in a container.
    const words = (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).split('\0');
    return basename(words[0] ?? '') === 'postgres' && words[words.indexOf('-D') + 1] === directory;
  }
  const ps = run({ prefix: [], identity: {} }, 'ps', ['-ww', '-o', 'command=', '-p', `${pid}`]);
  return (await ps.catch(() => '')).includes(`/postgres -D ${directory} -c `);
}

/** Sends increasingly forceful signals until the server has ended, which the caller checks, or the time is up. */
async function shutDown(pid: number, isGone: () => boolean | Promise<boolean>): Promise<void> {
  for (const [signal, milliseconds] of SHUTDOWNS) {
    const deadline = Date.now() + milliseconds;
    if (await isGone()) return;
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ESRCH') return;
      throw error;
    }
    while (Date.now() < deadline) {
      if (await isGone()) return;
      await sleep(20);
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function launch(
  directory: string,
  postgres: string,
  guise: Guise,
  port: number,
  options: PostgresOptions,
): Promise<PostgresServer> {
  const url = (database: string): string =>
    `postgresql://${USER}:${encodeURIComponent(options.password)}@127.0.0.1:${port}/${encodeURIComponent(database)}`;
  const settings = { ...SETTINGS, ...(options.durable === false ? NOT_DURABLE : {}), ...options.settings, port };
  const pairs = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const [command = postgres, ...words] = [...guise.prefix, postgres, '-D', directory, ...pairs];
  const logFile = `${directory}.log`;
  const log = await open(logFile, 'a', 0o600);
  let child: ChildProcess;
  let logStart: number;
  try {
    if ((await log.stat()).size > LOG_BYTES) await log.truncate();
    logStart = (await log.stat()).size;
    child = spawn(command, words, {
      ...guise.identity,
      cwd: '/',
      env: childEnvironment(),
      // In its own session, so that a terminal's Ctrl-C does not reach it before its clients are done.
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    await once(child, 'spawn');
  } finally {
    await log.close();
  }
  const pid = child.pid ?? 0;
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= shutDown(pid, hasEnded));

  const deadline = Date.now() + START_MS;
  try {
    while (!(await isReady(directory, pid, url('postgres')))) {
      const problem = hasEnded() ? 'ended while starting' : Date.now() > deadline ? 'does not become ready' : undefined;
      if (problem) {
        const lines = (await readFile(logFile)).subarray(logStart).toString().trim().split('\n').slice(-12);
        throw new Error(`PostgreSQL ${problem}; the end of ${logFile}:\n${lines.join('\n')}`);
      }
      await sleep(30);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return { url, port, stop, createDatabase: (name, more) => createDatabase(url('postgres'), name, more?.template) };
}

async function isReady(directory: string, pid: number, url: string): Promise<boolean> {
  // First the server's own status, because another server may be listening on the port.
  const lines = (await readFile(join(directory, 'postmaster.pid'), 'utf8').catch(() => '')).split('\n');
  if (Number(lines[0]) !== pid || lines[7]?.trim() !== 'ready') return false;
  try {
    await withClient(url, (client) => client.query('SELECT 1'));
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== '28P01') return false;
    throw new Error(`The PostgreSQL cluster ${directory} was created with another password.`, { cause: error });
  }
}

async function createDatabase(url: string, name: string, template?: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount) return;
    const from = template === undefined ? '' : ` TEMPLATE ${pg.escapeIdentifier(template)}`;
    try {
      await client.query(`CREATE DATABASE ${pg.escapeIdentifier(name)}${from}`);
    } catch (error) {
      // Another caller created it meanwhile: duplicate_database or, at the same moment, unique_violation.
      if (!['42P04', '23505'].includes((error as { code?: string }).code ?? '')) throw error;
    }
  });
}

async function withClient(url: string, use: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const client = new pg.Client({ connectionString: url, ssl: false, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {}); // a lost connection also fails the query
  try {
    await client.connect();
    await use(client);
  } finally {
    await client.end().catch(() => {});
  }
}
