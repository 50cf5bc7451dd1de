import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import {
  addCampaignAd,
  type Client,
  createAd,
  createAdLibrary,
  createCampaign,
  createMediaLibrary,
  publishCampaign,
  setCampaignTarget,
} from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { sha256Of, upload } from '../upload.ts';

const root = join(import.meta.dirname, '../../..');

/** A picture of 1920 × 1080 and a film of 160 × 120 that lasts a second. */
export const files = {
  picture: 'infra/local/pictures/sneakers-landscape.png',
  film: 'services/campaign/test/fixtures/clip.mp4',
} as const;

/** Uploads a file of this folder, and resolves with the asset once it is processed. */
export const uploadFile = async (client: Client, library: string, file: string) =>
  upload(client, library, { filename: basename(file), bytes: await readFile(join(root, file)) });

/** The SHA-256 of what a signed URL of a file serves, in lower-case hex. */
export async function hashOf(url: string | null): Promise<string> {
  const answer = await fetch(url ?? '');
  const bytes = new Uint8Array(await answer.arrayBuffer());
  if (answer.status !== 200) throw new Error(`The file was answered ${answer.status}: ${Buffer.from(bytes)}`);
  return sha256Of(bytes);
}

/** Publishes a picture to the screens of a group with a tag, and resolves with the ids of the campaign and its ad. */
export async function publishPicture(client: Client, picture: Buffer, where: { group: string; tag: string }) {
  const library = (await client.call(createMediaLibrary, { body: { name: 'Pictures' } })).body.id;
  const { id: media_asset_id } = await upload(client, library, { filename: 'summer.png', bytes: picture });
  const ad_library_id = (await client.call(createAdLibrary, { body: { name: 'Ads' } })).body.id;
  const ad = { ad_library_id, media_asset_id, duration_ms: 1_000 };
  const ad_id = (await client.call(createAd, { body: ad })).body.id;
  const { group: group_id } = where;
  // Campaign learns of a new group and its screens within moments.
  const { id } = await eventually(
    async () => (await client.call(createCampaign, { body: { name: 'Summer', group_id } })).body,
  );
  const params = { id };
  await eventually(
    async () => (await client.call(setCampaignTarget, { params, body: { include: { group_ids: [group_id] } } })).body,
  );
  const added = await client.call(addCampaignAd, { params, body: { ad_id, screen_tag: where.tag } });
  await eventually(async () => (await client.call(publishCampaign, { params })).body);
  return { campaign: id, campaignAd: added.body.id };
}
