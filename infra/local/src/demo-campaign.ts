import { readFile } from 'node:fs/promises';
import {
  addCampaignAd,
  type Client,
  completeMediaAsset,
  createAd,
  createAdLibrary,
  createCampaign,
  createMediaAsset,
  createMediaLibrary,
  getMediaAsset,
  publishCampaign,
  setCampaignTarget,
  updateCampaign,
  validateCampaign,
} from '@attribution/contracts';

/** The pictures, by the tag of the screens whose shape they have. The first one is the cover. */
const pictures = { counter: 'sneakers-landscape.png', window: 'sneakers-portrait.png' };

const campaign = {
  name: 'Summer sneakers',
  brief: { product: 'Trail sneakers', objective: 'Visits to the shoe aisle' },
  priority: 10,
};

/** Uploads the pictures, and publishes a campaign that shows them on so many screens of the account. */
export async function publishDemo(api: Client, screens: number): Promise<void> {
  const { id } = (await api.call(createCampaign, { body: campaign })).body;
  const params = { id };
  const media_library_id = (await api.call(createMediaLibrary, { body: { name: 'Pictures' } })).body.id;
  const ad_library_id = (await api.call(createAdLibrary, { body: { name: 'Ads' } })).body.id;
  const uploads = Object.values(pictures).map((filename) => uploadPicture(api, media_library_id, filename));
  const assets = await Promise.all(uploads);
  for (const [at, screen_tag] of Object.keys(pictures).entries()) {
    const body = { ad_library_id, media_asset_id: assets[at] ?? '' };
    const ad_id = (await api.call(createAd, { body })).body.id;
    await api.call(addCampaignAd, { params, body: { ad_id, screen_tag } }).then((answer) => answer.body);
  }
  const target = { include: { tags: Object.keys(pictures) } };
  await api.call(setCampaignTarget, { params, body: target }).then((answer) => answer.body);
  await api.call(updateCampaign, { params, body: { media_asset_id: assets[0] } }).then((answer) => answer.body);
  // The campaign service learns of the estate a moment after it was imported.
  await until(async () => (await api.call(validateCampaign, { params })).body.matched_screens === screens);
  await api.call(publishCampaign, { params }).then((answer) => answer.body);
}

/** Resolves with the asset's id when it is ready. */
async function uploadPicture(api: Client, media_library_id: string, filename: string): Promise<string> {
  const bytes = await readFile(new URL(`../pictures/${filename}`, import.meta.url));
  const body = { media_library_id, filename, size_bytes: bytes.length };
  const { id, upload_url, upload_headers } = (await api.call(createMediaAsset, { body })).body;
  const sent = await fetch(upload_url, { method: 'PUT', headers: upload_headers, body: new Uint8Array(bytes) });
  if (!sent.ok) throw new Error(`The upload of ${filename} was answered ${sent.status}: ${await sent.text()}`);
  const params = { id };
  await api.call(completeMediaAsset, { params, body: {} }).then((answer) => answer.body);
  await until(async () => {
    const { status, failure } = (await api.call(getMediaAsset, { params })).body;
    if (status === 'failed') throw new Error(`${filename} was refused: ${failure?.detail}`);
    return status === 'ready';
  });
  return id;
}

/** Asks again until it is so. Throws after a minute. */
export async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await isSo()); ) {
    if (Date.now() > deadline) throw new Error('The demo account could not be filled within a minute');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
