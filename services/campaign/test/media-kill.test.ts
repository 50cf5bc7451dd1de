import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, completeMediaAsset, getJob, getMediaAsset } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, mortal, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findDecoder } from '../src/media/ffmpeg.ts';
import { processingWork } from '../src/media/process-asset.ts';
import { openFileStore } from '../src/media/store/files.ts';
import { sweepJob } from '../src/media/sweep.ts';
import { type CampaignDatabase, openCampaignDatabase } from '../src/store.ts';
import { startCampaign } from './support.ts';
import { newLastingTenant, plain, promise, put } from './support-media.ts';

/** A decoder that does what a label in the video says. It needs no FFmpeg. */
const decoderScript = `#!/bin/sh
[ "$*" = -version ] && exit 0
for last; do case $last in file:*) video=\${last#file:} ;; esac; done
here=$(dirname "$0")
says() { grep -aq "$1" "$video"; }
first() { mkdir "$here/$1" 2>/dev/null; }
says KILLED-ALWAYS && kill -9 $$
says KILLED-ONCE && first killed && kill -9 $$
if says HANGS-ONCE && first hanging || says HANGS-ALWAYS; then exec sleep 60; fi
case "$*" in *image2*) cp "$here/frame.png" "$last" ;; *) echo frame=10 ;; esac
`;

let folder: string;
let work: string;
let decoder: string;
let service: TestService;
let database: CampaignDatabase;
const workers: ChildProcess[] = [];
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'test-kill-'));
  work = join(folder, 'work');
  decoder = join(folder, 'decoder.sh');
  await mkdir(work);
  await writeFile(decoder, decoderScript, { mode: 0o755 });
  await plain().png().toFile(join(folder, 'frame.png'));
  // Only the tests process files.
  service = await startCampaign({}, 'api');
  database = openCampaignDatabase({ url: String(service.db.options.connectionString), poolSize: 4 });
});
afterAll(async () => {
  for (const worker of workers) worker.kill('SIGKILL');
  await database.close();
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A clip with a label in a box that players ignore. */
async function labelled(label: string): Promise<Buffer> {
  const box = Buffer.from(`0000free${label}`);
  box.writeUInt32BE(box.length);
  return Buffer.concat([await readFile(join(import.meta.dirname, 'fixtures/clip.mp4')), box]);
}

async function uploaded(owner: Client, filename: string, bytes: Uint8Array): Promise<string> {
  const { id, upload_url } = await promise(owner, { filename, bytes });
  expect((await put(service, upload_url, bytes)).status).toBe(204);
  return id;
}

/** An upload that is complete, with a job that no queue knows. */
async function held(filename: string, bytes: Uint8Array) {
  const { owner, account } = newLastingTenant(service);
  const [asset, job] = [await uploaded(owner, filename, bytes), newId('job')];
  await service.db.query(
    `INSERT INTO jobs (id, account_id, kind, subject_id, created_by, created_at) VALUES ($1, $2, 'media_processing', $3, 'usr', now())`,
    [job, account, asset],
  );
  await service.db.query(`UPDATE media_assets SET status = 'uploaded', job_id = $1 WHERE id = $2`, [job, asset]);
  const state = async () => ({
    asset: (await owner.call(getMediaAsset, { params: { id: asset } })).body,
    job: (await owner.call(getJob, { params: { id: job } })).body,
  });
  return { account, asset, job, state };
}

const store = () => openFileStore(service.mediaDirectory);

/** One try of a job. */
function attempt(
  { asset, job }: { asset: string; job: string },
  { db = database, withinMs = 10 * 60_000, decodes = false } = {},
) {
  const processing = processingWork({
    ...{ database: db, clock: service.clock, store: store(), withinMs, directory: work, atATime: 1, sweep() {} },
    decoder: async () => (decodes ? findDecoder(decoder) : undefined),
  });
  const { signal } = new AbortController();
  return processing.run({ id: job, data: { asset_id: asset, promised: [] }, signal, progress: async () => {} });
}

test('a file whose processing dies at any step is made ready by the next try, once, and nothing is left behind', async () => {
  const bytes = await labelled('plain');
  const accounts: string[] = [];
  for (let at = 1, died = true; died; at++) {
    const one = await held('a.mp4', bytes);
    accounts.push(one.account);
    const victim = mortal(database, at);
    await attempt(one, { db: victim.database }).catch(() => {});
    died = victim.dead;
    if (died) {
      const { asset, job } = await one.state();
      // The last step is the end itself: then the next try finds nothing to do.
      expect([asset.status, job.status]).toEqual(
        asset.status === 'ready' ? ['ready', 'succeeded'] : [expect.stringMatching('uploaded|processing'), 'queued'],
      );
      await attempt(one);
    }
    const { asset, job } = await one.state();
    expect([at, asset.status, job.status, job.progress]).toEqual([at, 'ready', 'succeeded', 100]);
  }
  expect(accounts.length).toBeGreaterThan(4);
  expect(await readdir(work)).toEqual([]);
  service.clock.advance({ days: 3 });
  await sweepJob({ database, store: store(), clock: service.clock }).run(new AbortController().signal);
  for (const account of accounts) {
    const { rows } = await service.db.query<{ key: string }>(
      'SELECT key FROM stored_objects WHERE account_id = $1 ORDER BY key',
      [account],
    );
    expect(rows.map(({ key }) => key.split('/')[0])).toEqual(['content']);
    for (const { key } of rows) expect(await store().sizeOf(key)).toBeGreaterThan(0);
  }
});

test('a video that is decoded for longer than a job may take fails with took_too_long, and its decoder has ended', async () => {
  const one = await held('a.mp4', await labelled('HANGS-ALWAYS'));
  await attempt(one, { withinMs: 1_500, decodes: true });
  const { asset, job } = await one.state();
  expect(asset).toMatchObject({ status: 'failed', failure: { code: 'took_too_long' } });
  expect(job).toMatchObject({ status: 'failed', error: asset.failure });
  expect(await readdir(work)).toEqual([]);
});

function startWorker(): ChildProcess {
  const settings = {
    ...{ MEDIA_DIR: service.mediaDirectory, MEDIA_WORK_DIR: work, MEDIA_FFMPEG: decoder, MEDIA_JOBS: '3' },
  };
  const program = join(import.meta.dirname, 'worker.process.ts');
  const url = String(service.db.options.connectionString);
  const worker = spawn(process.execPath, [program, url, JSON.stringify(settings)], { stdio: 'inherit' });
  workers.push(worker);
  return worker;
}

test('when a worker or a decoder is killed, the file is processed again, and fails after three tries; no folder is left', async () => {
  const { owner } = newLastingTenant(service);
  const labels = ['HANGS-ONCE', 'KILLED-ONCE', 'KILLED-ALWAYS'];
  const files = await Promise.all(
    labels.map(async (label) => {
      const id = await uploaded(owner, 'a.mp4', await labelled(label));
      const { job_id } = (await owner.call(completeMediaAsset, { params: { id }, body: {} })).body;
      return { id, job_id };
    }),
  );
  const first = startWorker();
  await eventually(() => access(join(folder, 'hanging')), 120_000);
  first.kill('SIGKILL');
  await once(first, 'exit');
  expect(await readdir(work)).not.toEqual([]);
  startWorker();
  const ended = await Promise.all(
    files.map(({ id, job_id }) =>
      eventually(async () => {
        const job = (await owner.call(getJob, { params: { id: job_id } })).body;
        if (job.finished_at === null) throw new Error(`The job is ${job.status}`);
        const asset = (await owner.call(getMediaAsset, { params: { id } })).body;
        return { job, asset };
      }, 120_000),
    ),
  );
  expect(ended.map(({ asset, job }) => [asset.status, asset.failure?.code, job.status])).toEqual([
    ['ready', undefined, 'succeeded'],
    ['ready', undefined, 'succeeded'],
    ['failed', 'not_processed', 'failed'],
  ]);
  for (const { job } of ended) {
    expect(job.attempts).toBeGreaterThan(1);
    expect(job.attempts).toBeLessThanOrEqual(3);
  }
  await eventually(async () => expect(await readdir(work)).toEqual([]));
});
