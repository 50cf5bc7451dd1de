import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { KeySet } from '@attribution/auth';
import { type Client, createClient } from '@attribution/contracts';
import { newSecrets, startPlatform } from '@attribution/local';
import { createLogger } from '@attribution/runtime';
import type { Databases } from '../crash/check/databases.ts';
import { createDatabases } from '../crash/worlds/databases.ts';
import { ownerTokens } from '../outages/owner.ts';
import { patientFetch } from '../patient-fetch.ts';

/** The whole platform in this process, whose clock can be set. */
export interface Ground {
  readonly databases: Databases;
  readonly directory: string;
  readonly devices: { readonly url: string; readonly ca: string };
  readonly owner: Client;
  /** Milliseconds since the epoch. Until it is set, the clock is that of this machine; then it stands until it is set again. */
  setClock(instant: number): void;
  close(): Promise<void>;
}

export async function openGround(): Promise<Ground> {
  const { databases, drop } = await createDatabases();
  const directory = await mkdtemp(join(tmpdir(), 'calendar-'));
  const secrets = newSecrets();
  let instant: number | undefined;
  const platform = await startPlatform({
    database: async (service) => databases[service] ?? '',
    secrets,
    mailDirectory: directory,
    mediaDirectory: join(directory, 'media'),
    payments: { file: ':memory:', url: 'http://127.0.0.1:0' },
    host: '127.0.0.1',
    port: 0,
    logger: createLogger({ name: 'platform', level: 'error', pretty: false }),
    clock: { now: () => (instant === undefined ? new Date() : new Date(instant)) },
    environment: { BCRYPT_COST: '4', NODE_ENV: 'test' },
  });
  const token = ownerTokens(JSON.parse(secrets.token_keys.private) as KeySet);
  return {
    databases,
    directory,
    devices: platform.devices,
    owner: createClient({ baseUrl: platform.url, token, fetch: patientFetch }),
    setClock(to) {
      instant = to;
    },
    async close() {
      await platform.stop();
      await drop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
