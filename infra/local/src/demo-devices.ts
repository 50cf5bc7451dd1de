import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { type generateInternalKeys, internalOf } from '@attribution/auth';
import {
  type Client,
  changeDeviceConfig,
  claimDevice,
  createClient,
  createInstallation,
  importDevices,
  listDevices,
  listInstallations,
  listScreens,
  login,
  type Session,
} from '@attribution/contracts';
import { type MadeDevice, makeDevices, openFileStore, openPlayLog, prefixIn, runDevice } from '@attribution/simulator';
import type { z } from 'zod';
import type { Platform } from './platform.ts';

/** The devices of the demo, which run until they are stopped. */
export interface DemoDevices {
  /** The file of what their screens have shown. */
  readonly playLog: string;
  stop(): Promise<void>;
}

export interface DemoDevicesOptions {
  readonly platform: Pick<Platform, 'url' | 'devices' | 'serviceUrls'>;
  readonly internalKeys: ReturnType<typeof generateInternalKeys>;
  /** Of the demo's owner. */
  readonly credentials: { readonly email: string; readonly password: string };
  /** The folder of the platform. The devices have one of their own in it. */
  readonly directory: string;
  readonly say: (line: string) => void;
}

/** One for each screen of the demo. */
const count = 12;
const limit = 200;
/** So often that somebody who looks sees the figures move. */
const reportEveryMs = 5_000;
/** So often that somebody who publishes a campaign sees it on a screen within 5 s. */
const manifestEveryMs = 2_000;

/** Makes the demo's devices, unless they have been made before: imports, claims and installs them. Then it switches them on. */
export async function startDemoDevices(options: DemoDevicesOptions): Promise<DemoDevices> {
  const { platform, internalKeys, credentials, say } = options;
  const directory = join(options.directory, 'demo-devices');
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const made = await makeDevices(directory, count, await prefixIn(directory));
  const { sign } = internalOf('device', internalKeys.private.device, internalKeys.public);
  const operator = createClient({ baseUrl: platform.serviceUrls.DEVICE_URL ?? '', token: () => sign('device') });
  await operator.call(importDevices, { body: { devices: made.map(({ item }) => item) } });
  const anyone = createClient({ baseUrl: platform.url });
  const session = (await anyone.call(login, { body: credentials })).body as z.output<typeof Session>;
  await install(anyone.with({ token: session.access_token }), made);

  say(`Switching on ${count} devices`);
  const files = await openFileStore(join(directory, 'files'));
  const playLog = join(directory, 'plays.jsonl');
  const plays = openPlayLog(playLog);
  const off = new AbortController();
  const running = made.map(({ serial, flash }) =>
    runDevice(
      {
        ...platform.devices,
        ...{ flash, files, reportEveryMs, manifestEveryMs },
        tell: (event) => event.event === 'play' && plays.add(serial, event.play),
      },
      off.signal,
    ),
  );
  const ended = Promise.allSettled(running);
  return {
    playLog,
    async stop() {
      off.abort();
      await ended;
      await plays.close();
    },
  };
}

/** Claims the devices that are not claimed yet, and installs those that drive no screen at screens that no device drives. */
async function install(owner: Client, made: readonly MadeDevice[]): Promise<void> {
  const [devices, installations, screens] = await Promise.all([
    owner.call(listDevices, { query: { limit } }),
    owner.call(listInstallations, { query: { limit } }),
    owner.call(listScreens, { query: { limit } }),
  ]);
  const ids = new Map(devices.body.entries.map(({ serial, id }) => [serial, id]));
  const live = installations.body.entries.filter(({ status }) => status === 'live');
  const installed = new Set(live.map(({ device_id }) => device_id));
  const driven = new Set(live.flatMap(({ outputs }) => outputs.map(({ screen_id }) => screen_id)));
  const free = screens.body.entries.filter(({ id }) => !driven.has(id));
  for (const { serial, item } of made) {
    const known = ids.get(serial);
    if (known !== undefined && installed.has(known)) continue;
    const screen = free.shift();
    const name = screen?.external_id ?? serial;
    const claim = { claim_code: item.claim_code, name };
    const device_id = known ?? (await owner.call(claimDevice, { body: claim })).body.id;
    if (!screen) continue;
    const outputs = [{ output: 'HDMI-1', screen_id: screen.id }];
    await owner.call(createInstallation, { body: { location_id: screen.location_id, device_id, outputs } });
    // Its camera sees who is in front of the screen.
    const body = { desired: { watches: [screen.zone_id] } };
    await owner.call(changeDeviceConfig, { params: { id: device_id }, body });
  }
}
