/** Runs simulated devices that have certificates already. `GET /` says what became of them so far. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type DeviceEvent,
  type FileStore,
  type Manifest,
  newFactoryKey,
  runDevice,
  volatileFlash,
} from '@attribution/simulator';
import { endOnSignal, given } from '../gateway/environment.ts';
import { announce } from '../server.ts';
import type { ShownIdentity } from './stage.ts';

const [url, ca] = [given('TARGET'), given('CA')];
const spreadMs = Number(given('SPREAD_MS'));
const identities = JSON.parse(readFileSync(given('IDENTITIES'), 'utf8')) as ShownIdentity[];
const { privateKey: factoryKey, publicKey } = newFactoryKey();
const inThirtyDays = new Date(Date.now() + 30 * 86_400_000).toISOString();
const noFiles: FileStore = { has: () => true, fetch: async () => {} };
const counts = { troubles: 0, refusals: 0, certificates: 0, bootstraps: 0 };

/** Nothing to play: what the platform has for devices that are not installed. */
const manifestOf = (device_id: string): Manifest => ({
  ...{ schema_version: 1, device_id, version: 0, files: [], items: [], screens: [] },
  ...{ covers_from: inThirtyDays, covers_to: inThirtyDays },
});

function tell(event: DeviceEvent): void {
  if (event.event === 'certificate') counts.certificates++;
  if (event.event !== 'trouble') return;
  counts.troubles++;
  if (/answered 4\d\d/.test(event.detail)) counts.refusals++;
  if (/^(?:challenges|bootstrap) /.test(event.detail)) counts.bootstraps++;
}

async function run({ id, cert, key }: ShownIdentity, at: number): Promise<void> {
  await sleep(Math.random() * spreadMs);
  const credential = { deviceId: id, cert, key, notAfter: inThirtyDays, renewAfter: inThirtyDays };
  const memory = { serial: `SIM-${at}`, factoryKey, publicKey, credential, manifest: manifestOf(id) };
  const localAddress = `127.0.${1 + (at % 64)}.${1 + ((at >> 6) % 250)}`;
  const never = new AbortController().signal;
  await runDevice({ url, ca, localAddress, flash: volatileFlash(memory), files: noFiles, tell }, never);
}

for (const [at, identity] of identities.entries())
  run(identity, at).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
const server = createServer((_req, res) => res.end(JSON.stringify(counts)));
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
endOnSignal();
