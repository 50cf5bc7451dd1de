import { getMediaAnalysis } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { newTenant, startCampaign } from './support.ts';
import { here, plain, process, sha256 } from './support-media.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

test('a picture that is uploaded becomes ready, with what was found, and pictures of it', async () => {
  const { owner } = newTenant(service);
  const bytes = await plain(640, 480).png().toBuffer();
  const { asset, job } = await process(service, owner, { filename: 'grey.png', bytes });
  expect(asset).toMatchObject({ status: 'ready', sha256: sha256(bytes), mime_type: 'image/png', failure: null });
  expect(job).toMatchObject({ status: 'succeeded', progress: 100, attempts: 1 });
  const file = await fetch(here(service, asset.url));
  expect(Buffer.from(await file.arrayBuffer()).equals(bytes)).toBe(true);
  const thumbnail = await sharp(
    Buffer.from(await (await fetch(here(service, asset.thumbnail_url))).arrayBuffer()),
  ).metadata();
  expect([thumbnail.width, thumbnail.height]).toEqual([320, 240]);
  const { body } = await owner.call(getMediaAnalysis, { params: { id: asset.id } });
  expect(body.look).toMatchObject({ contrast: 0, sharpness: 0, colour: 0, text_density: 0 });
});
