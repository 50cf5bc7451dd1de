import { createSigner, generateKeySets } from '@attribution/auth';
import { newId, newUuid } from '@attribution/ids';
import type { BenchDatabase } from '../database.ts';
import { type BenchServer, startServer } from '../server.ts';
import { serviceSettings } from './settings.ts';

const keys = generateKeySets('bench');

/** Starts a service with these settings besides those that all have. With `RELAY: 'on'` its jobs run too. */
export function startService(
  service: Parameters<typeof serviceSettings>[1] & string,
  database: BenchDatabase,
  more: Record<string, string> = {},
  nodeArguments: readonly string[] = [],
): Promise<BenchServer> {
  const environment = { ...serviceSettings(keys, service), SERVICE: service, DATABASE_URL: database.url };
  const program = new URL('./service.server.ts', import.meta.url);
  return startServer(program, { ...environment, RELAY: 'off', ...more }, 'measured', nodeArguments);
}

/** The headers of an account's owner, for services that `startService` started. */
export function asOwner(account: string) {
  const claims = { sub: newId('user'), account, role: 'owner', account_type: 'network', sid: newUuid() };
  return { authorization: `Bearer ${createSigner(keys.private).sign('at+jwt', claims, 3_600)}` };
}
