import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Client, getMediaAnalysis } from '@attribution/contracts';
import { type TestService, testServers } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import sharp from 'sharp';
import { findDecoder } from '../src/media/ffmpeg.ts';
import { startCampaign } from './support.ts';
import { here, newLastingTenant, process } from './support-media.ts';

const ffmpeg = testServers.ffmpeg();
const run = promisify(execFile);

const h264 = ['-c:v', 'libx264', '-preset', 'ultrafast', '-pix_fmt', 'yuv420p'];
/** The index before the data. */
const fast = ['-movflags', '+faststart'];
const noise = ['-f', 'lavfi', '-i', 'testsrc2=size=320x240:rate=10:duration=3'];

(ffmpeg === undefined ? describe.skip : describe)('videos, with FFmpeg', () => {
  let service: TestService;
  let owner: Client;
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'test-videos-'));
    service = await startCampaign({
      ...{ MEDIA_FFMPEG: ffmpeg ?? '', MEDIA_JOBS: '2', MEDIA_WORK_DIR: join(folder, 'work') },
    });
    owner = newLastingTenant(service).owner;
  });
  afterAll(async () => {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  });

  async function make(name: string, args: readonly string[]): Promise<Buffer> {
    const path = join(folder, name);
    await run(ffmpeg ?? '', ['-hide_banner', '-v', 'error', '-nostdin', ...args, '-y', path]);
    return readFile(path);
  }
  const analysisOf = async (id: string) => (await owner.call(getMediaAnalysis, { params: { id } })).body;
  async function picture(url: string | null) {
    const answer = await fetch(here(service, url));
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'image/webp']);
    return sharp(Buffer.from(await answer.arrayBuffer()));
  }

  test('a clip is decoded whole; its look, poster and thumbnail are of the frame at one second, as it is shown', async () => {
    // Red, and blue from the second second on; pixels twice as wide as high.
    const colours = ['red', 'blue'].flatMap((colour, at) => [
      ...['-f', 'lavfi', '-i', `color=c=${colour}:size=240x160:rate=25:duration=${at + 1}`],
    ]);
    const bytes = await make('good.mp4', [
      ...colours,
      ...['-filter_complex', '[0][1]concat=n=2,setsar=2/1', ...h264, ...fast],
    ]);
    const { asset, job } = await process(service, owner, { filename: 'good.mp4', bytes });
    expect([asset.failure, job.status, job.attempts]).toEqual([null, 'succeeded', 1]);
    expect(asset.probe).toMatchObject({ width: 480, height: 160, frames: 75, duration_ms: 3_000, fast_start: true });
    expect(await analysisOf(asset.id)).toMatchObject({
      ...{ frame_at_ms: 1_000, technical: { decode: 'complete', decoded_frames: 75 } },
      look: { contrast: 0, text_density: 0, dominant_colours: [expect.stringMatching(/^#0[0-4]0[0-4]f[0-9a-f]$/)] },
    });
    const [poster, thumbnail] = await Promise.all([picture(asset.poster_url), picture(asset.thumbnail_url)]);
    expect(await poster.metadata()).toMatchObject({ format: 'webp', width: 480, height: 160 });
    expect(await thumbnail.metadata()).toMatchObject({ width: 320, height: 107 });
    const { channels } = await poster.stats();
    expect(channels.map(({ mean }) => (mean > 128 ? 1 : 0))).toEqual([0, 0, 1]);
  });

  test('of a video whose frames last for seconds, the one that is shown at one second is looked at', async () => {
    const slides = await make('slides.webm', [
      ...['-f', 'lavfi', '-i', 'color=c=white:size=64x64:rate=1/2:duration=4'],
      ...['-vf', "drawbox=t=fill:c=black:enable='gte(t,1)'", '-c:v', 'libvpx-vp9', '-fps_mode', 'passthrough'],
    ]);
    const { asset } = await process(service, owner, { filename: 'slides.webm', bytes: slides });
    expect(asset.failure).toBeNull();
    const { look, technical } = await analysisOf(asset.id);
    expect(technical).toMatchObject({ decode: 'complete', decoded_frames: asset.probe?.frames });
    expect(look?.brightness).toBeGreaterThan(95);
  });

  test('truncated: a fast-start MP4 that is cut, also where its headers were made to fit', async () => {
    const whole = await make('whole.mp4', [...noise, ...h264, ...fast]);
    const data = whole.indexOf('mdat') - 4;
    const fitted = Buffer.from(whole.subarray(0, data + Math.floor((whole.length - data) * 0.6)));
    fitted.writeUInt32BE(fitted.length - data, data);
    const cut = whole.subarray(0, fitted.length);
    for (const bytes of [cut, fitted]) {
      const { asset, job } = await process(service, owner, { filename: 'cut.mp4', bytes });
      expect(asset).toMatchObject({ status: 'failed', failure: { code: 'truncated' }, url: null, poster_url: null });
      expect(job).toMatchObject({ status: 'failed', attempts: 1, error: asset.failure });
    }
  });

  test('unreadable: an MP4 whose pictures were overwritten', async () => {
    const bytes = await make('scrambled.mp4', [...noise, ...h264, ...fast]);
    bytes.fill(0xaa, bytes.indexOf('mdat') + 4);
    const { asset } = await process(service, owner, { filename: 'scrambled.mp4', bytes });
    expect(asset).toMatchObject({ status: 'failed', failure: { code: 'unreadable' } });
  });

  test('a video that takes too long to decode is sampled, and one with no time left is given up', async () => {
    const decoder = await findDecoder(ffmpeg ?? '');
    const path = join(folder, 'long.mp4');
    await make('long.mp4', [...noise, ...h264]);
    const never = new AbortController().signal;
    const sampled = await decoder?.check(path, 'video/mp4', 30, 1, never);
    expect(sampled?.decode).toBe('sampled');
    expect(await decoder?.check(path, 'video/mp4', 30, 60_000, never)).toEqual({ decode: 'complete', frames: 30 });
    const over = AbortSignal.abort(new Error('The time is over'));
    await expect(decoder?.check(path, 'video/mp4', 30, 60_000, over)).rejects.toThrow('The time is over');
    await expect(decoder?.frame(path, 'video/mp4', 0, join(folder, 'x.png'), over)).rejects.toThrow('The time is over');
  });

  test('no file of a job is left behind', async () => {
    expect(await readdir(join(folder, 'work'))).toEqual([]);
  });
});

test('a program that is not there is no decoder', async () => {
  expect(await findDecoder('no-such-ffmpeg')).toBeUndefined();
});
