import { inDocker } from './docker.ts';
import { type Found, firstOf, given, type Missing } from './found.ts';
import { redisTrouble } from './redis-ping.ts';
import { MEMORY_ONLY, type RedisServerOptions, startRedis } from './redis-server.ts';

const IMAGE = 'redis:7-alpine';
const HINT = 'Start Docker, install redis-server, or give TEST_REDIS_URL.';

/**
 * A Redis for tests: TEST_REDIS_URL, else in Docker, else this machine's `redis-server`, installed first if possible.
 * Rejects if the given one does not respond.
 */
export async function findRedis(options: RedisServerOptions): Promise<Found | Missing> {
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
  return firstOf('Redis', [docker, () => startRedis(options)], HINT, options.say);
}

const urlOf = (port: number) => `redis://127.0.0.1:${port}`;

/** The URL without the password. */
const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).host : 'no URL');
