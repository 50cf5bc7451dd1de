import {
  createGroup,
  createInstallation,
  createLocation,
  createMediaLibrary,
  createScreen,
  createZone,
} from '@attribution/contracts';
import { createDeviceClient, type DeviceClient, readKey } from '@attribution/simulator';
import { type Chance, eventually } from '@attribution/testing';
import { addressOf, type ClaimedDevice, claimedDevices } from '../claimed-devices.ts';
import { rowsOf } from '../crash/check/databases.ts';
import { forEach } from '../day/chain.ts';
import { done } from '../done.ts';
import type { Ground } from './ground.ts';
import type { KnownScreen } from './rules.ts';
import { changes } from './spans.ts';

export interface Estate {
  readonly group: string;
  readonly mediaLibrary: string;
  readonly locations: readonly string[];
  readonly devices: readonly { readonly client: DeviceClient; readonly screens: readonly KnownScreen[] }[];
}

export interface Size {
  /** Of each of the zones. */
  readonly shops: number;
  readonly devices: number;
}

export const tags = ['window', 'counter', 'aisle'] as const;
export const screenSize = { width_px: 640, height_px: 360 };
/** Every so many devices, one drives two screens. */
const twoScreensEvery = 5;

/** Shops in each of the zones, with devices that have had their first contact. */
export async function openEstate(ground: Ground, { shops, devices: count }: Size, chance: Chance): Promise<Estate> {
  const { owner, databases } = ground;
  const { id: mediaLibrary, account_id } = (await owner.call(createMediaLibrary, { body: { name: 'Spring' } })).body;
  // More screens than the plan of a new account allows.
  await rowsOf(
    databases.organization ?? '',
    `INSERT INTO account_limits (account_id, limits_version) VALUES ('${account_id}', 1)`,
  );
  const group = (await owner.call(createGroup, { body: { name: 'Shops' } })).body.id;
  const places = changes.flatMap(({ timezone }) => Array.from({ length: shops }, (_, n) => ({ timezone, n })));
  const zones = await forEach(places, async ({ timezone, n }) => {
    const shop = { group_id: group, name: `${timezone} ${n}`, timezone };
    const location = (await owner.call(createLocation, { body: shop })).body.id;
    const zone = { location_id: location, name: 'Shop' };
    return { location, timezone, id: (await owner.call(createZone, { body: zone })).body.id };
  });
  const made = (await claimedDevices(databases, account_id, count)).map((device, n) => ({
    device,
    screens: Array.from({ length: n % twoScreensEvery === 0 ? 2 : 1 }, () => tagsOf(chance)),
  }));

  async function open({ device, screens }: (typeof made)[number], n: number) {
    const { location, timezone, id: zone_id } = zones[n % zones.length] as (typeof zones)[number];
    const outputs: { output: string; screen_id: string }[] = [];
    const wired: KnownScreen[] = [];
    for (const [at, own] of screens.entries()) {
      const screen = { zone_id, name: `${n} ${at}`, tags: own, ...screenSize };
      const { id } = (await owner.call(createScreen, { body: screen })).body;
      outputs.push({ output: `HDMI-${at + 1}`, screen_id: id });
      wired.push({ id, location, timezone, tags: own });
    }
    await done(owner.call(createInstallation, { body: { location_id: location, device_id: device.id, outputs } }));
    return { client: await firstContact(ground, device, n), screens: wired };
  }
  const devices = await forEach(made, open);
  // Certificates are of this machine's time, as the ingress judges them by it. The platform's clock is about to leave it.
  await rowsOf(
    databases.device ?? '',
    `UPDATE device_certificates SET not_after = not_after + interval '2 years';
     UPDATE devices SET heartbeat_interval = 3600`,
  );
  return { group, mediaLibrary, locations: zones.map(({ location }) => location), devices };
}

/** One of the tags, or two. */
function tagsOf(chance: Chance): string[] {
  const one = chance.pick(tags);
  return chance.share() < 0.3 ? tags.filter((tag) => tag !== one) : [one];
}

async function firstContact(
  { devices }: Ground,
  { serial, privateKey }: ClaimedDevice,
  n: number,
): Promise<DeviceClient> {
  const factoryKey = readKey(privateKey);
  const client = createDeviceClient({ ...devices, serial, factoryKey, localAddress: addressOf(n), timeoutMs: 60_000 });
  await eventually(() => client.bootstrap());
  await eventually(() => client.heartbeat({}));
  return client;
}
