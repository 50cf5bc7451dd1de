import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import {
  addCampaignAd,
  type Client,
  completeMediaAsset,
  createAd,
  createAdLibrary,
  createCampaign,
  createMediaAsset,
  createMediaLibrary,
  getJob,
  getMediaAsset,
  type Job,
  type MediaAsset,
  publishCampaign,
  setCampaignTarget,
} from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import type { z } from 'zod';

const root = join(import.meta.dirname, '../../..');

/** A picture of 1920 × 1080 and a film of 160 × 120 that lasts a second. */
export const files = {
  picture: 'infra/local/pictures/sneakers-landscape.png',
  film: 'services/campaign/test/fixtures/clip.mp4',
} as const;

const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Resolves with the job when it has ended. */
export const untilEnded = (client: Client, id: string): Promise<z.output<typeof Job>> =>
  eventually(async () => {
    const { body } = await client.call(getJob, { params: { id } });
    if (body.finished_at === null) throw new Error(`The job is ${body.status}, at ${body.progress} %`);
    return body;
  }, 60_000);

type Asset = z.output<typeof MediaAsset>;

/** Uploads a file of this folder by its signed URL, and returns the asset once it is processed. */
export const uploadFile = async (client: Client, library: string, file: string): Promise<Asset> =>
  upload(client, library, { filename: basename(file), bytes: await readFile(join(root, file)) });

async function upload(
  client: Client,
  media_library_id: string,
  { filename, bytes }: { readonly filename: string; readonly bytes: Buffer },
): Promise<Asset> {
  const promised = { media_library_id, filename, size_bytes: bytes.length };
  const { id, upload_url, upload_headers } = (await client.call(createMediaAsset, { body: promised })).body;
  const sent = await fetch(upload_url, { method: 'PUT', headers: upload_headers, body: new Uint8Array(bytes) });
  if (sent.status !== 204) throw new Error(`The upload was answered ${sent.status}: ${await sent.text()}`);
  const body = { sha256: sha256Of(bytes) };
  const { job_id } = (await client.call(completeMediaAsset, { params: { id }, body })).body;
  await untilEnded(client, job_id);
  return (await client.call(getMediaAsset, { params: { id } })).body;
}

/** The SHA-256 of what a signed URL of a file serves, in lower-case hex. */
export async function hashOf(url: string | null): Promise<string> {
  const answer = await fetch(url ?? '');
  const bytes = new Uint8Array(await answer.arrayBuffer());
  if (answer.status !== 200) throw new Error(`The file was answered ${answer.status}: ${Buffer.from(bytes)}`);
  return sha256Of(bytes);
}

function chunk(type: string, content: Buffer): Buffer {
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  const named = Buffer.concat([Buffer.from(type), content]);
  length.writeUInt32BE(content.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}

/** A black picture, as PNG of one channel. */
export function blackPicture(width: number, height: number): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  const pixels = deflateSync(Buffer.alloc((width + 1) * height));
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
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
