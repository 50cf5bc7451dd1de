import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newId } from '@attribution/ids';
import { createTestAuthority } from '@attribution/testing';
import type { BenchDatabase } from '../database.ts';
import type { BenchServer } from '../server.ts';
import { startIngress, type TestAuthority } from './ingress.ts';
import { type FillOptions, fillDevices, fingerprintOf } from './seed.ts';
import { startDevice } from './service.ts';

/** A device as a program that plays many of them knows it. */
export interface ShownIdentity {
  readonly id: string;
  /** PEM, the issuing authority behind it. */
  readonly cert: string;
  readonly key: string;
}

/** Device, with an ingress before it. */
export interface Stage {
  readonly authority: TestAuthority;
  readonly device: BenchServer;
  readonly ingress: BenchServer;
  /** Ends the ingress, and after `awayMs` starts another one on its port. Resolves to the moment just before. */
  restart(awayMs: number): Promise<Date>;
  stop(): Promise<void>;
}

export async function startStage(database: BenchDatabase): Promise<Stage> {
  const authority = createTestAuthority();
  const device = await startDevice(database, authority);
  const start = (port?: number) => startIngress(authority, () => device.url, port);
  let ingress = await start();
  return {
    authority,
    device,
    get ingress() {
      return ingress;
    },
    async restart(awayMs) {
      const port = Number(new URL(ingress.url).port);
      await ingress.stop();
      await sleep(awayMs);
      const began = new Date();
      ingress = await start(port);
      return began;
    },
    async stop() {
      await ingress.stop();
      await device.stop();
    },
  };
}

/**
 * Makes devices of one account, each with a certificate that it has used, does the work with a file of what they show, and
 * removes the file.
 */
export async function withIdentities<T>(
  database: BenchDatabase,
  authority: TestAuthority,
  options: FillOptions & { readonly count: number },
  work: (file: string) => Promise<T>,
): Promise<T> {
  const identities = Array.from({ length: options.count }, (): ShownIdentity => {
    const id = newId('device');
    return { id, ...authority.issue({ deviceId: id }) };
  });
  const devices = identities.map(({ id, cert }) => ({ id, fingerprint: fingerprintOf(cert) }));
  await fillDevices(database, newId('account'), devices, options);
  const directory = await mkdtemp(join(tmpdir(), 'bench-devices-'));
  try {
    const file = join(directory, 'identities.json');
    await writeFile(file, JSON.stringify(identities));
    return await work(file);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
