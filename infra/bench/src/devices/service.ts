import { eventually } from '@attribution/testing';
import type { BenchDatabase } from '../database.ts';
import { startService } from '../endpoints/start-service.ts';
import type { BenchServer } from '../server.ts';
import type { TestAuthority } from './ingress.ts';

/** Starts Device, and waits until it is ready: on a busy machine the first connection to a database takes long. */
export async function startDevice(database: BenchDatabase, { authority }: TestAuthority): Promise<BenchServer> {
  const server = await startService('device', database, { DEVICE_CA: JSON.stringify(authority) });
  await eventually(async () => {
    const { status } = await fetch(`${server.url}/readyz`);
    if (status !== 200) throw new Error(`Device is not ready: ${status}`);
  }, 30_000);
  return server;
}
