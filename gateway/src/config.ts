import { KeySet, TokenPublicKeysSetting } from '@attribution/auth';
import { endpoints } from '@attribution/contracts';
import { readConfig, servingSettings, setting } from '@attribution/runtime';
import { z } from 'zod';
import { type Environment, edgeSettings, refuseOpenRedis, type Upstreams, upstreamSettings } from './edge-settings.ts';

const upstreams = upstreamSettings(endpoints);

const ownSettings = z.object({
  ...servingSettings,
  ...edgeSettings,
  TOKEN_PUBLIC_KEYS: TokenPublicKeysSetting,
  INTERNAL_PRIVATE_KEYS: setting.json(KeySet).optional().meta({
    description:
      'The JSON Web Key Set that it signs its reports of refused requests with; without it they are not in the audit log',
    secret: true,
  }),
  ADMIN_PORT: setting.port.optional().meta({
    description:
      'A port of its own for `/metrics`, which the public one does not serve; services serve theirs on `PORT`',
  }),
  TRUSTED_PROXIES: setting.list.default(['loopback']).meta({
    description: 'Comma-joined addresses or CIDR ranges whose `X-Forwarded-For` is trusted',
  }),
  CORS_ORIGINS: setting.list.default([]).meta({ description: 'Comma-joined origins whose pages may read responses' }),
  CONNECTIONS_PER_CLIENT: setting.count.default(256).meta({
    description:
      'Connections that one address (IPv6: one /64) may have; through a trusted proxy, requests in progress instead. More are reset, or 503',
  }),
});

/** All environment variables that the gateway reads. */
export const gatewaySettings = refuseOpenRedis(z.object({ ...ownSettings.shape, ...upstreams.addresses.shape }));

export interface GatewaySettings extends z.output<typeof ownSettings> {
  /** The address of each service. */
  readonly upstreams: Upstreams;
}

export function readGatewaySettings(environment: Environment): GatewaySettings {
  readConfig(gatewaySettings, environment); // Reports all invalid variables together.
  return { ...readConfig(ownSettings, environment), upstreams: upstreams.read(environment) };
}

/** The environment variables with the addresses of the services behind the gateway. */
export const upstreamsAt = upstreams.at;
