import { createSigner, generateKeySets } from '@attribution/auth';
import { newId, newUuid } from '@attribution/ids';
import type { BenchDatabase } from '../database.ts';
import type { BenchRequest } from '../endpoints/requests.ts';
import { serviceSettings, signAsDevice } from '../endpoints/settings.ts';
import { type BenchServer, startServer } from '../server.ts';

const keys = generateKeySets('bench');

/** Starts Campaign. With `RELAY: 'on'` its jobs run too. */
export const startCampaign = (
  database: BenchDatabase,
  more: Record<string, string> = {},
  nodeArguments: readonly string[] = [],
): Promise<BenchServer> => {
  const environment = { ...serviceSettings(keys, 'campaign'), SERVICE: 'campaign', DATABASE_URL: database.url };
  const program = new URL('../endpoints/service.server.ts', import.meta.url);
  return startServer(program, { ...environment, RELAY: 'off', ...more }, 'measured', nodeArguments);
};

/** The headers of an account's owner. */
export function asOwner(account: string) {
  const claims = { sub: newId('user'), account, role: 'owner', account_type: 'network', sid: newUuid() };
  return { authorization: `Bearer ${createSigner(keys.private).sign('at+jwt', claims, 3_600)}` };
}

/** What Device asks for when these devices ask for their manifests. */
export function asDevices(devices: readonly string[]): BenchRequest[] {
  const headers = { authorization: `Bearer ${signAsDevice('campaign')}` };
  return devices.map((id) => ({ method: 'GET', path: `/internal/v2/manifests/${id}`, headers }));
}
