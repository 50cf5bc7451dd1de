import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Client, getMediaAnalysis } from '@attribution/contracts';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import sharp, { type Sharp } from 'sharp';
import { startCampaign } from './support.ts';
import { completed, newLastingTenant, objectsIn, plain, process, promise, put } from './support-media.ts';

let service: TestService;
let owner: Client;
beforeAll(async () => {
  // No program of this name: what these tests say of videos holds without a decoder.
  service = await startCampaign({ MEDIA_FFMPEG: 'no-such-ffmpeg', MEDIA_JOBS: '2' });
  owner = newLastingTenant(service).owner;
});
afterAll(() => service.stop());

const fixture = (name: string) => readFile(join(import.meta.dirname, 'fixtures', name));

/** A PNG that says it has so many pixels, and has none. */
async function header(width: number, height: number): Promise<Buffer> {
  const bytes = await plain(8, 8).png().toBuffer();
  bytes.writeUInt32BE(width, 16);
  bytes.writeUInt32BE(height, 20);
  bytes.writeUInt32BE(crc32(bytes.subarray(12, 29)), 29);
  return bytes;
}

const noise = () =>
  sharp({
    create: {
      width: 200,
      height: 200,
      channels: 3,
      background: '#fff',
      noise: { type: 'gaussian', mean: 128, sigma: 40 },
    },
  });

const bad: [string, string, string, () => Promise<Uint8Array>][] = [
  [
    'an SVG called .png',
    'a.png',
    'unsupported_type',
    async () => Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>'),
  ],
  [
    'a page called .mp4',
    'a.mp4',
    'unsupported_type',
    async () => Buffer.from('<!doctype html><script>alert(1)</script>'),
  ],
  ['a JPEG called .png', 'a.png', 'type_mismatch', () => plain().jpeg().toBuffer()],
  ['half a PNG', 'a.png', 'truncated', async () => (await noise().png().toBuffer()).subarray(0, 9_000)],
  ['half a JPEG', 'a.jpg', 'truncated', async () => (await noise().jpeg().toBuffer()).subarray(0, 4_000)],
  ['half a WebP', 'a.webp', 'truncated', async () => (await noise().webp().toBuffer()).subarray(0, 3_000)],
  ['a bomb of 50,000 x 50,000 pixels', 'a.png', 'too_many_pixels', () => header(50_000, 50_000)],
  ['a picture of more than 100 million pixels', 'a.png', 'too_many_pixels', () => header(16_000, 16_000)],
  ['half an MP4', 'a.mp4', 'truncated', async () => (await fixture('clip.mp4')).subarray(0, 6_000)],
  ['half a WebM', 'a.webm', 'truncated', async () => (await fixture('clip.webm')).subarray(0, 2_000)],
];

test.each(bad)('%s fails with its code, and leaves nothing in the store', async (_, filename, code, bytes) => {
  const tenant = newLastingTenant(service);
  const { asset, job } = await process(service, tenant.owner, { filename, bytes: await bytes() });
  expect(asset).toMatchObject({ status: 'failed', failure: { code }, probe: null, url: null, analysis_id: null });
  expect(job).toMatchObject({ status: 'failed', attempts: 1, error: asset.failure });
  expect((await tenant.owner.call(getMediaAnalysis, { params: { id: asset.id } })).status).toBe(404);
  await eventually(async () => {
    const sql = 'SELECT key FROM stored_objects WHERE account_id = $1';
    expect((await service.db.query(sql, [tenant.account])).rows).toEqual([]);
  });
});

test('another hash at completion fails with checksum_mismatch', async () => {
  const bytes = await plain().png().toBuffer();
  const { id, upload_url } = await promise(owner, { filename: 'a.png', bytes });
  await put(service, upload_url, bytes);
  const { asset } = await completed(owner, id, { sha256: '0'.repeat(64) });
  expect(asset).toMatchObject({ status: 'failed', failure: { code: 'checksum_mismatch' } });
});

test('an MP4 and a WebM are probed; without a decoder nothing is said of their look', async () => {
  const [mp4, webm] = await Promise.all(
    ['clip.mp4', 'clip.webm'].map(async (filename) =>
      process(service, owner, { filename, bytes: await fixture(filename) }),
    ),
  );
  expect(mp4?.asset.probe).toMatchObject({
    ...{
      mime: 'video/mp4',
      width: 160,
      height: 120,
      rotation: 0,
      codec: 'h264',
      duration_ms: 1_000,
      fps: 10,
      frames: 10,
    },
    ...{ variable_frame_rate: false, audio: true, audio_codec: 'aac', bit_depth: 8, chroma: '4:2:0', colour: 'bt709' },
    ...{ hdr: false, fast_start: true, codec_string: expect.stringMatching(/^avc1\./) },
  });
  expect(webm?.asset.probe).toMatchObject({
    mime: 'video/webm',
    codec: 'vp9',
    frames: 10,
    audio: false,
    chroma: '4:2:0',
  });
  expect(mp4?.asset).toMatchObject({ status: 'ready', poster_url: null, thumbnail_url: null, url: expect.any(String) });
  const { body } = await owner.call(getMediaAnalysis, { params: { id: mp4?.asset.id ?? '' } });
  expect(body).toMatchObject({ frame_at_ms: 500, look: null, technical: { decode: 'none', decoded_frames: 0 } });
});

test('an animated GIF has its frames, and a delay of 0 counts as 100 ms', async () => {
  const frames = ['#ff0000', '#00ff00', '#0000ff'].map((colour) => plain(40, 30, colour).png().toBuffer());
  const bytes = await sharp(await Promise.all(frames), { join: { animated: true } })
    .gif({ delay: [0, 100, 400] })
    .toBuffer();
  const { asset } = await process(service, owner, { filename: 'a.gif', bytes });
  expect(asset.probe).toMatchObject({ codec: 'gif', width: 40, height: 30, frames: 3, variable_frame_rate: true });
  expect(asset.probe?.duration_ms).toBe(600);
});

test('a turned JPEG is probed, and shown, upright', async () => {
  const bytes = await plain(400, 200).withMetadata({ orientation: 6 }).jpeg().toBuffer();
  const { asset } = await process(service, owner, { filename: 'a.jpg', bytes });
  expect(asset.probe).toMatchObject({ width: 200, height: 400, rotation: 90, codec: 'jpeg', chroma: '4:2:0' });
});

test('known pictures look as the formulas say; a blur is less sharp and as bright', async () => {
  const look = async (picture: Sharp) => {
    const bytes = await picture.png().toBuffer();
    const { asset } = await process(service, owner, { filename: 'a.png', bytes });
    return (await owner.call(getMediaAnalysis, { params: { id: asset.id } })).body.look;
  };
  const half = plain(64, 64, '#000').composite([
    { input: await plain(32, 64, '#fff').png().toBuffer(), left: 32, top: 0 },
  ]);
  const sharpOne = await noise().png().toBuffer();
  const [halves, grain, blurred, red] = await Promise.all([
    look(half),
    look(sharp(sharpOne)),
    look(sharp(sharpOne).blur(3)),
    look(plain(64, 64, '#ff0000')),
  ]);
  expect(halves).toMatchObject({ contrast: 100, colour: 0, brightness: 50 });
  expect(blurred?.sharpness).toBeLessThan(grain?.sharpness ?? 0);
  expect(Math.abs((blurred?.brightness ?? 0) - (grain?.brightness ?? 0))).toBeLessThan(2);
  expect(red).toMatchObject({ contrast: 0, dominant_colours: ['#ff0000'] });
});

test('no file of a job is left behind', async () => {
  const { rows } = await service.db.query<{ key: string }>('SELECT key FROM stored_objects');
  const names = new Set(rows.map(({ key }) => key.slice(key.lastIndexOf('/') + 1)));
  expect((await objectsIn(service.mediaDirectory)).filter((name) => !names.has(name))).toEqual([]);
});
