import type { BenchDatabase } from '../database.ts';
import type { BenchRequest } from '../endpoints/requests.ts';
import { signAsDevice } from '../endpoints/settings.ts';
import { startService } from '../endpoints/start-service.ts';

export const startCampaign = (
  database: BenchDatabase,
  more: Record<string, string> = {},
  nodeArguments: readonly string[] = [],
) => startService('campaign', database, more, nodeArguments);

/** What Device asks for when these devices ask for their manifests. */
export function asDevices(devices: readonly string[]): BenchRequest[] {
  const headers = { authorization: `Bearer ${signAsDevice('campaign')}` };
  return devices.map((id) => ({ method: 'GET', path: `/internal/v2/manifests/${id}`, headers }));
}
