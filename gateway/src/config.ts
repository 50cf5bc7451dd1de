import { KeysSetting } from '@attribution/auth';
import { endpoints, type ServiceName } from '@attribution/contracts';
import {
  addressSetting,
  lameDuckMs,
  processSettings,
  readConfig,
  setting,
  tracingSettings,
} from '@attribution/runtime';
import { z } from 'zod';

/** The services behind the gateway: those that have public endpoints. */
const upstreamNames = [...new Set(endpoints.map(({ service }) => service))];

/** Something for each of them, by the name of the variable that says where it is. */
const byAddress = <T>(make: (service: ServiceName) => T): Readonly<Record<string, T>> =>
  Object.fromEntries(upstreamNames.map((name) => [addressSetting(name), make(name)]));

const addresses = z.object(byAddress((name) => z.url().meta({ description: `Where ${name} answers` })));

const ownSettings = z.object({
  ...processSettings,
  ...tracingSettings,
  PORT: setting.port.default(8080),
  LAME_DUCK_MS: setting.count.default(lameDuckMs),
  ADMIN_PORT: setting.port.optional(),
  TOKEN_PUBLIC_KEYS: KeysSetting,
  REDIS_URL: z.url().optional(),
  TRUSTED_PROXIES: setting.list.default(['loopback']),
  CORS_ORIGINS: setting.list.default([]),
  UPSTREAM_TIMEOUT_MS: setting.count.default(30_000),
  CLIENT_TIMEOUT_MS: setting.count.default(60_000),
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
