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
  /** Ends it. It may be called again. */
  stop(): Promise<void>;
  /** Ends it, if it is running, and starts another on the same port, without data. */
  restart(): Promise<void>;
  /** Sends it a signal, such as SIGKILL, or SIGSTOP to make it hang. */
  signal(name: NodeJS.Signals): void;
}

export interface RedisServerOptions {
  /** The directory of its log. It is created if it is missing. */
  directory: string;
  /** Called before each step that takes time. */
  say: Say;
}

/** Nothing is persisted. */
export const MEMORY_ONLY = ['--save', '', '--appendonly', 'no'];
const START_MS = 15_000;

/** Runs this machine's `redis-server` on 127.0.0.1, installed first if it is missing and apt can be used. */
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
