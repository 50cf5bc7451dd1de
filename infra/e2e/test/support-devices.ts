import { type Client, claimDevice, createInstallation, createScreen, importDevices } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import {
  createDeviceClient,
  type DeviceClient,
  type DeviceEvent,
  type DeviceOptions,
  type FileStore,
  type Flash,
  newFactoryKey,
  Refused,
  readKey,
  runDevice,
  volatileFlash,
} from '@attribution/simulator';
import { eventually } from '@attribution/testing';
import { newTree } from './support-estate.ts';
import type { Platform } from './support-platform.ts';

/** A device as it leaves the factory: a serial, a key, and a label on its box. */
export interface Made {
  readonly serial: string;
  /** PEM. */
  readonly factoryKey: string;
  readonly labelCode: string;
  /** What the device remembers. */
  readonly flash: Flash;
}

/** Makes devices, whose list an operator imports. */
export async function madeDevices(platform: Platform, count = 1): Promise<Made[]> {
  const made = Array.from({ length: count }, () => {
    const { privateKey: factoryKey, publicKey } = newFactoryKey();
    const labelCode = newUuid().replaceAll('-', '').slice(-16).toUpperCase();
    const serial = `PLAYER-${labelCode}`;
    return { serial, factoryKey, labelCode, publicKey, flash: volatileFlash({ serial, factoryKey, publicKey }) };
  });
  const devices = made.map(({ serial, publicKey, labelCode }) => ({
    ...{ serial, public_key: publicKey, claim_code: labelCode },
  }));
  await platform.inside('device', 'device').call(importDevices, { body: { devices } });
  return made;
}

/** What the firmware of a device calls the ingress with, on a connection of its own that is kept. */
export const firmwareOf = (platform: Platform, { serial, factoryKey }: Made, credential?: DeviceClient['credential']) =>
  createDeviceClient({ ...platform.devices, serial, factoryKey: readKey(factoryKey), credential });

/** A device that its owner has claimed by its label, with its first certificate. */
export async function activeDevice(platform: Platform, owner: Client) {
  const [made] = (await madeDevices(platform)) as [Made];
  const { id } = (await owner.call(claimDevice, { body: { claim_code: made.labelCode } })).body;
  const firmware = firmwareOf(platform, made);
  const status = await statusOf(platform, () => firmware.bootstrap());
  if (status !== 200) throw new Error(`The first contact was answered ${status}`);
  return { made, firmware, params: { id } };
}

/** Installs a device at a screen of its own, and resolves with what a campaign needs to reach it. */
export async function installDevice(client: Client, device_id: string) {
  const { group, location, zone } = await newTree(client);
  const size = { width_px: 640, height_px: 360 };
  const screen = { zone_id: zone, name: 'Window left', tags: ['window'], ...size };
  const { id: screen_id } = (await client.call(createScreen, { body: screen })).body;
  const outputs = [{ output: 'HDMI-1', screen_id }];
  await client.call(createInstallation, { body: { location_id: location, device_id, outputs } });
  return { group, screen: screen_id, ...size };
}

/** The status of what a device is answered. While too many processes share the machine, it asks again after 503. */
export const statusOf = (platform: Platform, call: () => Promise<unknown>): Promise<number> =>
  eventually(async () => {
    const status = await call().then(
      () => 200,
      (error: unknown) => {
        if (error instanceof Refused) return error.status;
        throw error;
      },
    );
    if (status === 503 && platform.crowded) throw new Error('Too busy');
    return status;
  });

/** Switches a device on: it does by itself whatever devices do. */
export function switchOn(
  platform: Pick<Platform, 'devices'>,
  flash: Flash,
  files: FileStore,
  more: Pick<DeviceOptions, 'backoff'> = {},
) {
  const told: DeviceEvent[] = [];
  const off = new AbortController();
  const options = { ...platform.devices, flash, files, manifestEveryMs: 250, reportEveryMs: 250, ...more };
  const running = runDevice({ ...options, tell: (event) => void told.push(event) }, off.signal);
  return {
    told,
    /** Resolves with the first event of a kind, when the device has told it. */
    first: <const K extends DeviceEvent['event']>(kind: K) =>
      eventually(() => {
        const found = told.find(({ event }) => event === kind);
        if (!found) throw new Error(`No ${kind} among ${JSON.stringify(told)}`);
        return found as Extract<DeviceEvent, { event: K }>;
      }),
    async off(): Promise<void> {
      off.abort();
      await running;
    },
  };
}
