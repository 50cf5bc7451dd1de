import { setTimeout as sleep } from 'node:timers/promises';
import * as contracts from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { createDeviceClient, type DeviceClient, readKey } from '@attribution/simulator';
import { readyAsset } from '../../ready-asset.ts';
import { addressOf, claimedDevices } from '../claimed-devices.ts';
import { rowsOf } from '../crash/check/databases.ts';
import { newOwner, type Owner } from '../outages/owner.ts';
import type { SeparateWorld } from '../separate/world.ts';

export const timezone = 'Europe/Zurich';

export interface Shop {
  readonly location: string;
  readonly zones: readonly string[];
  readonly screens: readonly { readonly id: string; readonly zone: string }[];
  readonly devices: readonly DeviceClient[];
}

interface Campaign {
  readonly id: string;
  readonly ad: string;
  readonly holdoutPercent: number;
}

/** A chain of shops with devices, which have had their first contact, and two campaigns; one has a control. */
export interface Chain {
  readonly account: string;
  readonly shops: readonly Shop[];
  readonly campaigns: readonly Campaign[];
  /** A client of the owner; its token is renewed in time. */
  owner(): Promise<contracts.Client>;
}

/** Calls at once. */
const atOnce = 8;
const deadlineMs = 60_000;

/** Does the work for each, several at once, in order of the results. */
export async function forEach<T, R>(all: readonly T[], work: (one: T, index: number) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const turns = all.entries();
  const take = async () => {
    for (const [index, one] of turns) results[index] = await work(one, index);
  };
  await Promise.all(Array.from({ length: atOnce }, take));
  return results;
}

/** Tries until it works: what one service has just been told, another learns within moments. */
async function until<T>(work: () => Promise<T>): Promise<T> {
  for (const deadline = Date.now() + deadlineMs; ; await sleep(200)) {
    try {
      return await work();
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
  }
}

/** Where the chain is opened. */
type Where = Pick<SeparateWorld, 'url' | 'mailDirectory' | 'databases' | 'devices'>;

export async function openChain(
  world: Where,
  { shops: shopCount, devices: deviceCount }: { readonly shops: number; readonly devices: number },
): Promise<Chain> {
  let person: Owner = await newOwner(world.url, world.mailDirectory);
  let since = performance.now();
  const owner = async () => {
    if (performance.now() - since > 300_000) [person, since] = [await until(() => person.renew()), performance.now()];
    return contracts.createClient({ baseUrl: world.url, token: person.token });
  };
  let client = await owner();
  const group = await until(async () => {
    const [first] = (await client.call(contracts.listGroups)).body.entries;
    if (!first) throw new Error('A new account has a group');
    return first.id;
  });
  const sql = `SELECT account_id AS account FROM groups WHERE id = '${group}'`;
  const [{ account } = { account: '' }] = await rowsOf<{ account: string }>(world.databases.organization ?? '', sql);
  const shops = await forEach(Array.from({ length: shopCount }), async (_, number) => {
    const shop = await openShop(await owner(), group, number);
    const devices = await openDevices(world, await owner(), { account, ...shop }, deviceCount / shopCount);
    return { ...shop, devices };
  });
  client = await owner();
  const campaigns: Campaign[] = [];
  for (const holdoutPercent of [20, 0])
    campaigns.push(await publish(world, client, { account, group, holdoutPercent }));
  return { account, shops, campaigns, owner };
}

async function openShop(client: contracts.Client, group_id: string, number: number): Promise<Omit<Shop, 'devices'>> {
  const location = (
    await client.call(contracts.createLocation, { body: { group_id, name: `Shop ${number}`, timezone } })
  ).body.id;
  const zones: string[] = [];
  const screens: { id: string; zone: string }[] = [];
  for (const name of ['Window', 'Counter']) {
    const zone = (await client.call(contracts.createZone, { body: { location_id: location, name } })).body.id;
    const screen = { zone_id: zone, name, width_px: 1920, height_px: 1080, tags: ['window'] };
    screens.push({ id: (await client.call(contracts.createScreen, { body: screen })).body.id, zone });
    zones.push(zone);
  }
  return { location, zones, screens };
}

/** Devices of a shop as they are when their owner has claimed them; each then comes to its certificate by itself. */
async function openDevices(
  { databases, devices: ingress }: Where,
  client: contracts.Client,
  { account, location }: { readonly account: string; readonly location: string },
  count: number,
): Promise<DeviceClient[]> {
  const made = await claimedDevices(databases, account, count);
  const devices: DeviceClient[] = [];
  for (const [n, { id, serial, privateKey }] of made.entries()) {
    await client.call(contracts.createInstallation, { body: { location_id: location, device_id: id } });
    const localAddress = addressOf(n);
    const factoryKey = readKey(privateKey);
    const device = createDeviceClient({ ...ingress, serial, factoryKey, localAddress, timeoutMs: 10_000 });
    await until(() => device.bootstrap());
    devices.push(device);
  }
  return devices;
}

async function publish(
  { databases }: Where,
  client: contracts.Client,
  { account, group, holdoutPercent }: { account: string; group: string; holdoutPercent: number },
): Promise<Campaign> {
  const media = (await client.call(contracts.createMediaLibrary, { body: { name: 'Spring' } })).body.id;
  const ad_library_id = (await client.call(contracts.createAdLibrary, { body: { name: 'Spring' } })).body.id;
  const media_asset_id = newId('media_asset');
  await rowsOf(databases.campaign ?? '', readyAsset(media_asset_id, account, media));
  const body = { ad_library_id, media_asset_id, duration_ms: 10_000 };
  const ad_id = (await client.call(contracts.createAd, { body })).body.id;
  const { id } = await until(
    async () => (await client.call(contracts.createCampaign, { body: { name: 'Spring', group_id: group } })).body,
  );
  const params = { id };
  const target = { include: { group_ids: [group] }, holdout_percent: holdoutPercent };
  await until(async () => (await client.call(contracts.setCampaignTarget, { params, body: target })).body);
  const added = await client.call(contracts.addCampaignAd, { params, body: { ad_id, screen_tag: 'window' } });
  await until(async () => (await client.call(contracts.publishCampaign, { params })).body);
  return { id, ad: added.body.id, holdoutPercent };
}
