import { join } from 'node:path';
import { aptInstall } from './apt.ts';
import { startChild } from './child.ts';
import { inDocker } from './docker.ts';
import { firstOf, given, type NoPart, type Part, type Say } from './part.ts';
import { freePort } from './port.ts';
import { redisTrouble } from './redis-ping.ts';
import { run, which } from './which.ts';

export interface RedisOptions {
  /** For its log; created when missing. */
  directory: string;
  /** Told before each step that takes time. */
  say: Say;
}

const IMAGE = 'redis:7-alpine';
const HINT = 'Start Docker, install redis-server, or give TEST_REDIS_URL.';
/** Nothing outlives the server. */
const MEMORY_ONLY = ['--save', '', '--appendonly', 'no'];

/**
 * A Redis for tests: TEST_REDIS_URL, else Docker, else `redis-server` of this machine, installed first where
 * that can be done. Rejects when the one given does not answer.
 */
export async function findRedis(options: RedisOptions): Promise<Part | NoPart> {
  const url = process.env.TEST_REDIS_URL;
  if (url) return given(`Redis at ${hostOf(url)}`, url, 'TEST_REDIS_URL', redisTrouble);
  const docker = () =>
    inDocker(
      {
        image: IMAGE,
        args: (port) => ({
          before: ['--publish', `127.0.0.1:${port}:6379`],
          after: ['redis-server', ...MEMORY_ONLY],
        }),
        url: urlOf,
        trouble: redisTrouble,
      },
      options.say,
    );
  return firstOf('Redis', [docker, () => local(options)], HINT, options.say);
}

const urlOf = (port: number) => `redis://127.0.0.1:${port}`;

/** Without the password. */
const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : 'no URL');

async function local({ directory, say }: RedisOptions): Promise<Part | string> {
  if (!(await which('redis-server'))) {
    const refused = await aptInstall([['redis-server']], say);
    if (refused !== undefined) return `redis-server is not on PATH, and ${refused}`;
  }
  const program = await which('redis-server');
  if (program === undefined) return 'redis-server is not on PATH';
  const version = /\bv=(\S+)/.exec((await run(program, ['--version'], { ms: 5_000 })).output)?.[1] ?? '';
  const port = await freePort();
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, ...MEMORY_ONLY];
  const server = await startChild({ name: 'redis-server', program, args, log: join(directory, 'redis.log') });
  await server.ready(() => redisTrouble(urlOf(port)), 15_000);
  const found = `redis-server ${version} on this machine, port ${port}`;
  return { found, url: urlOf(port), stop: server.stop };
}
