import { join } from 'node:path';
import {
  addCampaignAd,
  type Client,
  createAd,
  createAdLibrary,
  createCampaign,
  createClient,
  createInstallation,
  createLocation,
  createMediaLibrary,
  createScreen,
  createZone,
  listGroups,
  setCampaignTarget,
  validateCampaign,
} from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { plainPicture, sha256Of, upload } from '../../upload.ts';
import { claimedDevices } from '../claimed-devices.ts';
import { done } from '../done.ts';
import { newOwner } from '../outages/owner.ts';
import { patientFetch } from '../patient-fetch.ts';
import { type RunningDevice, type Way, ways } from './devices.ts';
import type { ScreenGround } from './grounds.ts';

/** A campaign that is ready to be published, with one ad of a picture of its own. */
export interface Draft {
  readonly id: string;
  readonly campaignAd: string;
  readonly sha256: string;
}

/** A shop of an account of its own, with a screen for each way in which a device learns of a manifest. */
export interface Shop {
  readonly owner: Client;
  readonly drafts: readonly Draft[];
  readonly devices: Readonly<Record<Way, RunningDevice>>;
}

const size = { width_px: 640, height_px: 360 };
const tag = 'window';

export async function openShop(ground: ScreenGround, directory: string, campaigns: number): Promise<Shop> {
  const { url, mailDirectory, databases } = ground;
  const person = await newOwner(url, mailDirectory);
  const clientOf = ({ token, ip }: typeof person) =>
    createClient({ baseUrl: url, token, headers: { 'x-forwarded-for': ip }, fetch: patientFetch });
  const client = clientOf(person);
  // Other services learn within moments what one has just been told.
  const group = await eventually(async () => {
    const [first] = (await client.call(listGroups)).body.entries;
    if (!first) throw new Error('A new account has a group');
    return first.id;
  });
  const { id: media, account_id: account } = (await client.call(createMediaLibrary, { body: { name: 'Spring' } })).body;
  const shop = { group_id: group, name: 'Main Street', timezone: 'Europe/Zurich' };
  const location_id = (await client.call(createLocation, { body: shop })).body.id;
  const zone_id = (await client.call(createZone, { body: { location_id, name: 'Window' } })).body.id;
  const made = await claimedDevices(databases, account, 2);

  async function newDevice(way: Way, device: (typeof made)[number]): Promise<RunningDevice> {
    const screen = { zone_id, name: way, tags: [tag], ...size };
    const { id: screen_id } = (await client.call(createScreen, { body: screen })).body;
    const body = { location_id, device_id: device.id, outputs: [{ output: 'HDMI-1', screen_id }] };
    await done(client.call(createInstallation, { body }));
    return ways[way](ground, device, join(directory, device.serial));
  }
  const [first, second] = made as [(typeof made)[number], (typeof made)[number]];
  const devices = { asking: await newDevice('asking', first), waiting: await newDevice('waiting', second) };

  const ad_library_id = (await client.call(createAdLibrary, { body: { name: 'Spring' } })).body.id;
  const drafts: Draft[] = [];
  for (let n = 0; n < campaigns; n++) {
    const bytes = plainPicture(size.width_px, size.height_px, n);
    const { id: media_asset_id } = await upload(client, media, { filename: `${n}.png`, bytes });
    const ad_id = (await client.call(createAd, { body: { ad_library_id, media_asset_id } })).body.id;
    const draft = { name: `Spring ${n}`, group_id: group };
    const { id } = await eventually(async () => (await client.call(createCampaign, { body: draft })).body);
    const params = { id };
    const target = { include: { group_ids: [group] } };
    await eventually(async () => (await client.call(setCampaignTarget, { params, body: target })).body);
    const added = await client.call(addCampaignAd, { params, body: { ad_id, screen_tag: tag } });
    await eventually(async () => {
      const { matched_screens } = (await client.call(validateCampaign, { params })).body;
      if (matched_screens !== 2) throw new Error(`${matched_screens} screens are known`);
    }, 60_000);
    drafts.push({ id, campaignAd: added.body.id, sha256: sha256Of(bytes) });
  }
  // A token lasts 15 minutes, and other shops are still being set up.
  const renewed = await person.renew();
  return { owner: clientOf(renewed), drafts, devices };
}
