import { TokenPublicKeysSetting } from '@attribution/auth';
import { endpoints, type ServiceName } from '@attribution/contracts';
import { addressSetting, readConfig, servingSettings, setting } from '@attribution/runtime';
import { z } from 'zod';

/** The services behind the gateway: those that have public endpoints. */
const upstreamNames = [...new Set(endpoints.map(({ service }) => service))];

/** Something for each of them, by the name of the variable that says where it is. */
const byAddress = <T>(make: (service: ServiceName) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(upstreamNames.map((name) => [addressSetting(name), make(name)]));

const addresses = z.object(byAddress((name) => z.url().meta({ description: `Where ${name} answers` })));

const ownSettings = z.object({
  ...servingSettings,
  TOKEN_PUBLIC_KEYS: TokenPublicKeysSetting,
  ADMIN_PORT: setting.port.optional().meta({
    description:
      'A port of its own for `/metrics`, which the public one does not serve; services serve theirs on `PORT`',
  }),
  REDIS_URL: z.url().optional().meta({
    description: 'Where gateways share their rate limits; without it each counts for itself',
    secret: true,
    example: 'redis://:something@redis:6379',
  }),
  REDIS_TIMEOUT_MS: setting.count.default(40).meta({
    description: 'Milliseconds that a rate limit waits for Redis; after that the gateway counts without it',
  }),
  TRUSTED_PROXIES: setting.list.default(['loopback']).meta({
    description: 'Comma-joined addresses or CIDR ranges whose `X-Forwarded-For` is believed',
  }),
  CORS_ORIGINS: setting.list.default([]).meta({ description: 'Comma-joined origins whose pages may read answers' }),
  UPSTREAM_TIMEOUT_MS: setting.count.default(30_000).meta({
    description: 'Milliseconds of silence after which a service is given up',
  }),
  CLIENT_TIMEOUT_MS: setting.count.default(60_000).meta({
    description:
      'Milliseconds that a client may take to send a request, or 512 KiB of one, and to take 512 KiB of an answer',
  }),
});

/** Everything that the gateway reads. */
export const gatewaySettings = z.object({ ...ownSettings.shape, ...addresses.shape });

export interface GatewaySettings extends z.output<typeof ownSettings> {
  /** Where each service is. */
  readonly upstreams: Readonly<Partial<Record<ServiceName, string>>>;
}

export function readGatewaySettings(environment: Readonly<Record<string, string | undefined>>): GatewaySettings {
  readConfig(gatewaySettings, environment); // Names at once all that is wrong.
  const known = readConfig(addresses, environment);
  return {
    ...readConfig(ownSettings, environment),
    upstreams: Object.fromEntries(upstreamNames.map((name) => [name, known[addressSetting(name)] ?? ''])),
  };
}

/** The environment that says where the services behind the gateway are. */
export const upstreamsAt = (urlOf: (service: ServiceName) => string): Readonly<Record<string, string>> =>
  byAddress(urlOf);
