import { KeysSetting } from '@attribution/auth';
import type { ServiceName } from '@attribution/contracts';
import { lameDuckMs, processSettings, readConfig, setting, tracingSettings } from '@attribution/runtime';
import { z } from 'zod';

export const gatewaySettings = z.object({
  ...processSettings,
  ...tracingSettings,
  PORT: setting.port.default(8080),
  LAME_DUCK_MS: setting.count.default(lameDuckMs),
  ADMIN_PORT: setting.port.optional(),
  ACCOUNT_URL: z.url(),
  ORGANIZATION_URL: z.url(),
  CAMPAIGN_URL: z.url(),
  BILLING_URL: z.url(),
  TOKEN_PUBLIC_KEYS: KeysSetting,
  REDIS_URL: z.url().optional(),
  REDIS_TIMEOUT_MS: setting.count.default(40),
  TRUSTED_PROXIES: setting.list.default(['loopback']),
  CORS_ORIGINS: setting.list.default([]),
  UPSTREAM_TIMEOUT_MS: setting.count.default(30_000),
  CLIENT_TIMEOUT_MS: setting.count.default(60_000),
});

export type GatewaySettings = z.output<typeof gatewaySettings>;

export function readGatewaySettings(environment: Readonly<Record<string, string | undefined>>): GatewaySettings {
  return readConfig(gatewaySettings, environment);
}

/** Where each service is. */
export function upstreamsOf(settings: GatewaySettings): Partial<Record<ServiceName, string>> {
  return {
    account: settings.ACCOUNT_URL,
    organization: settings.ORGANIZATION_URL,
    campaign: settings.CAMPAIGN_URL,
    billing: settings.BILLING_URL,
  };
}
