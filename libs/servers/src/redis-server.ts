import { join } from 'node:path';
import { aptInstall } from './apt.ts';
import { type Child, startChild } from './child.ts';
import type { Say } from './found.ts';
import { freePort } from './port.ts';
import { redisTrouble } from './redis-ping.ts';
import { run, which } from './which.ts';

export interface RedisServer {
  /** For a person: `redis-server 7.0.15 on this machine, port 20123`. */
  found: string;
  url: string;
  /** May be called again. */
  stop(): Promise<void>;
  /** Ends it, if it runs, and starts another on the same port, with nothing in it. */
  restart(): Promise<void>;
  /** Sends it a signal, as SIGKILL, or SIGSTOP that makes it hang. */
  signal(name: NodeJS.Signals): void;
}

export interface RedisServerOptions {
  /** For its log; created when missing. */
  directory: string;
  /** Told before each step that takes time. */
  say: Say;
}

/** Nothing outlives the server. */
export const MEMORY_ONLY = ['--save', '', '--appendonly', 'no'];
const START_MS = 15_000;

/** Runs this machine's `redis-server` on 127.0.0.1, installed first where it is missing and that can be done. */
export async function startRedis({ directory, say }: RedisServerOptions): Promise<RedisServer> {
  const program = await findProgram(say);
  const version = /\bv=(\S+)/.exec((await run(program, ['--version'], { ms: 5_000 })).output)?.[1] ?? '';
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, ...MEMORY_ONLY];
  const launch = async (): Promise<Child> => {
    const server = await startChild({ name: 'redis-server', program, args, log: join(directory, 'redis.log') });
    await server.ready(() => redisTrouble(url), START_MS);
    return server;
  };
  let server = await launch();
  return {
    found: `redis-server ${version} on this machine, port ${port}`,
    url,
    stop: () => server.stop(),
    async restart() {
      await server.stop();
      server = await launch();
    },
    signal: (name) => server.signal(name),
  };
}

async function findProgram(say: Say): Promise<string> {
  const refused = (await which('redis-server')) ? undefined : await aptInstall([['redis-server']], say);
  const program = await which('redis-server');
  if (program === undefined)
    throw new Error(`redis-server is not on PATH${refused === undefined ? '' : `, and ${refused}`}`);
  return program;
}
