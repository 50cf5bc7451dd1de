import type { Endpoint, ServiceName } from '@attribution/contracts';
import { addressSetting, readConfig, setting } from '@attribution/runtime';
import { z } from 'zod';

export type Environment = Readonly<Record<string, string | undefined>>;
/** The address of each service. */
export type Upstreams = Readonly<Partial<Record<ServiceName, string>>>;

/** The settings of the gateway and of the ingress. */
export const edgeSettings = {
  REDIS_URL: z.url().optional().meta({
    description: 'Where gateways share their rate limits; without it each gateway counts for itself',
    secret: true,
    example: 'rediss://:something@redis:6379',
  }),
  REDIS_TIMEOUT_MS: setting.count.default(40).meta({
    description: 'Milliseconds that a rate limit waits for Redis; after that the gateway counts without it',
  }),
  UPSTREAM_TIMEOUT_MS: setting.count.default(30_000).meta({
    description: 'Milliseconds without data after which the gateway stops waiting for a service',
  }),
  CLIENT_TIMEOUT_MS: setting.count.default(60_000).meta({
    description:
      'Milliseconds that a client may take to send a request, or 512 KiB of one, and to take 512 KiB of a response',
  }),
};

interface RedisSettings {
  readonly REQUIRE_TLS: boolean;
  readonly REDIS_URL?: string | undefined;
}

/** Refuses a Redis without TLS where TLS is required. */
export const refuseOpenRedis = <S extends z.ZodType<RedisSettings>>(settings: S): S =>
  settings.refine((read) => !read.REQUIRE_TLS || !read.REDIS_URL || read.REDIS_URL.startsWith('rediss:'), {
    message: 'must be a rediss: URL, because REQUIRE_TLS is true',
    path: ['REDIS_URL'],
  });

/** The addresses of the services that have some of these endpoints. */
export function upstreamSettings(endpoints: readonly Endpoint[]) {
  const names = [...new Set(endpoints.map(({ service }) => service))];
  /** A value for each upstream, by the name of the variable that holds its address. */
  const byAddress = <T>(make: (service: ServiceName) => T): Readonly<Record<string, T>> =>
    Object.fromEntries(names.map((name) => [addressSetting(name), make(name)]));
  const addresses = z.object(byAddress((name) => z.url().meta({ description: `The address of ${name}` })));
  return {
    addresses,
    read(environment: Environment): Upstreams {
      const known = readConfig(addresses, environment);
      return Object.fromEntries(names.map((name) => [name, known[addressSetting(name)] ?? '']));
    },
    /** The variables with the addresses. */
    at: (urlOf: (service: ServiceName) => string) => byAddress(urlOf),
  };
}
