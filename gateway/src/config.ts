import { TokenPublicKeysSetting } from '@attribution/auth';
import { endpoints, type ServiceName } from '@attribution/contracts';
import { addressSetting, readConfig, servingSettings, setting } from '@attribution/runtime';
import { z } from 'zod';

/** The services behind the gateway: those that have public endpoints. */
const upstreamNames = [...new Set(endpoints.map(({ service }) => service))];

/** A value for each upstream, by the name of the variable that holds its address. */
const byAddress = <T>(make: (service: ServiceName) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(upstreamNames.map((name) => [addressSetting(name), make(name)]));

const addresses = z.object(byAddress((name) => z.url().meta({ description: `The address of ${name}` })));

const ownSettings = z.object({
  ...servingSettings,
  TOKEN_PUBLIC_KEYS: TokenPublicKeysSetting,
  ADMIN_PORT: setting.port.optional().meta({
    description:
      'A port of its own for `/metrics`, which the public one does not serve; services serve theirs on `PORT`',
  }),
  REDIS_URL: z.url().optional().meta({
    description: 'Where gateways share their rate limits; without it each gateway counts for itself',
    secret: true,
    example: 'redis://:something@redis:6379',
  }),
  REDIS_TIMEOUT_MS: setting.count.default(40).meta({
    description: 'Milliseconds that a rate limit waits for Redis; after that the gateway counts without it',
  }),
  TRUSTED_PROXIES: setting.list.default(['loopback']).meta({
    description: 'Comma-joined addresses or CIDR ranges whose `X-Forwarded-For` is trusted',
  }),
  CORS_ORIGINS: setting.list.default([]).meta({ description: 'Comma-joined origins whose pages may read responses' }),
  UPSTREAM_TIMEOUT_MS: setting.count.default(30_000).meta({
    description: 'Milliseconds without data after which the gateway stops waiting for a service',
  }),
  CLIENT_TIMEOUT_MS: setting.count.default(60_000).meta({
    description:
      'Milliseconds that a client may take to send a request, or 512 KiB of one, and to take 512 KiB of a response',
  }),
});

/** All environment variables that the gateway reads. */
export const gatewaySettings = z.object({ ...ownSettings.shape, ...addresses.shape });

export interface GatewaySettings extends z.output<typeof ownSettings> {
  /** The address of each service. */
  readonly upstreams: Readonly<Partial<Record<ServiceName, string>>>;
}

export function readGatewaySettings(environment: Readonly<Record<string, string | undefined>>): GatewaySettings {
  readConfig(gatewaySettings, environment); // Reports all invalid variables together.
  const known = readConfig(addresses, environment);
  return {
    ...readConfig(ownSettings, environment),
    upstreams: Object.fromEntries(upstreamNames.map((name) => [name, known[addressSetting(name)] ?? ''])),
  };
}

/** The environment variables with the addresses of the services behind the gateway. */
export const upstreamsAt = (urlOf: (service: ServiceName) => string): Readonly<Record<string, string>> =>
  byAddress(urlOf);
