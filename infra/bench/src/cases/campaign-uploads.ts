import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { type IncomingMessage, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, createMediaAsset, createMediaLibrary } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { startCampaign } from '../campaign/service.ts';
import { type Case, type Compared, compact, compare, type Row, type Tools } from '../case.ts';
import { withDatabase } from '../endpoints/compare-servers.ts';
import { asOwner } from '../endpoints/start-service.ts';
import { residentOf } from '../platform/memory.ts';
import { type BenchServer, startServer } from '../server.ts';

/** How many times the floor's seconds; megabytes. */
const bars = { time: 1.5, resident: 64 };
const mebibyte = 2 ** 20;
/** As in the cluster (k8s/base). Without them Node derives the size of its heap from the machine. */
const heap = ['--max-old-space-size=256', '--max-semi-space-size=16'];

/** Where both sides put the bytes: settings of the service and of the floor. */
interface Target {
  readonly name: string;
  readonly ours: Record<string, string>;
  readonly floor: Record<string, string>;
  empty(): Promise<void>;
}

/** Sends so many bytes. Resolves to the seconds until the answer. */
async function put(url: string, bytes: number): Promise<number> {
  const began = performance.now();
  const sent = request(url, { method: 'PUT', headers: { 'content-length': bytes } });
  const answered = once(sent, 'response') as Promise<[IncomingMessage]>;
  const [[answer]] = await Promise.all([
    answered,
    pipeline(Readable.from(chunksOf(bytes), { objectMode: false }), sent),
  ]);
  const text = Buffer.concat(await answer.toArray()).toString();
  if ((answer.statusCode ?? 500) >= 300) throw new Error(`${answer.statusCode}: ${text}`);
  return (performance.now() - began) / 1_000;
}

const chunk = Buffer.alloc(64 * 1024, 'attribution');

function* chunksOf(bytes: number): Iterable<Buffer> {
  for (let left = bytes; left > 0; left -= chunk.length) yield left < chunk.length ? chunk.subarray(0, left) : chunk;
}

/** Promises a file of that size; returns the URL of the service for its bytes. */
async function promise(url: string, bytes: number): Promise<string> {
  const client = createClient({ baseUrl: url, headers: asOwner(newId('account')) });
  const library = (await client.call(createMediaLibrary, { body: { name: 'Spring' } })).body.id;
  const body = { media_library_id: library, filename: 'film.mp4', size_bytes: bytes };
  const { upload_url } = (await client.call(createMediaAsset, { body })).body;
  const { pathname, search } = new URL(upload_url);
  return url + pathname + search;
}

/** Does the work, and resolves to the most megabytes that the server's memory grew meanwhile. */
async function growthDuring(server: BenchServer, work: () => Promise<unknown>): Promise<number> {
  const before = (await residentOf(server.pid)) ?? Number.NaN;
  let most = before;
  let ended = false;
  const watch = async () => {
    for (; !ended; await sleep(5)) most = Math.max(most, (await residentOf(server.pid)) ?? 0);
  };
  await Promise.all([watch(), work().finally(() => (ended = true))]);
  return most - before;
}

async function measure(tools: Tools, target: Target): Promise<readonly Row[]> {
  const bytes = (tools.smoke ? 1 : 200) * mebibyte;
  tools.say(`  uploads of ${bytes / mebibyte} MiB, ${target.name}`);
  return withDatabase(tools, 'campaign', async (database) => {
    const [ours, floor] = await Promise.all([
      startCampaign(database, target.ours, heap),
      startServer(new URL('../campaign/put.server.ts', import.meta.url), target.floor),
    ]);
    const upload = async (size: number) => put(await promise(ours.url, size), size);
    try {
      await upload(mebibyte); // What an upload needs is loaded.
      const grown = await growthDuring(ours, () => upload(bytes));
      const compared = await compare(
        tools,
        () => target.empty().then(() => upload(bytes)),
        () => target.empty().then(() => put(`${floor.url}/${randomUUID()}`, bytes)),
      );
      return [timeRow(target, compared), memoryRow(target, grown)];
    } finally {
      await Promise.all([ours.stop(), floor.stop()]);
    }
  });
}

const timeRow = ({ name }: Target, { a, b, ratio }: Compared): Row => ({
  what: `Upload of 200 MiB, ${name}, beside node:http with SHA-256 and the same store`,
  ours: `${compact(a.median)} s`,
  beside: `${compact(b.median)} s`,
  ratio,
  bar: `≤ ${bars.time}`,
  holds: ratio.median <= bars.time,
});

const memoryRow = ({ name }: Target, grown: number): Row => ({
  what: `Resident memory that the first of them adds, ${name}`,
  ours: `${compact(grown)} MB`,
  beside: '',
  bar: `≤ ${bars.resident} MB`,
  holds: grown <= bars.resident,
});

const folderTarget = (folder: string): Target => ({
  name: 'to a folder',
  ours: { MEDIA_DIR: folder },
  floor: { FOLDER: folder },
  async empty() {
    for (const name of await readdir(folder)) await rm(join(folder, name), { recursive: true });
  },
});

async function bucketTarget(s3Url: string): Promise<Target> {
  const { username, password, protocol, host } = new URL(s3Url);
  const [accessKeyId, secretAccessKey] = [decodeURIComponent(username), decodeURIComponent(password)];
  const [endpoint, region, bucket] = [`${protocol}//${host}`, 'us-east-1', `bench-${randomUUID()}`];
  const options = { region, endpoint, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } };
  const client = new S3Client(options);
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  const store = { MEDIA_DIR: '', MEDIA_S3_BUCKET: bucket, MEDIA_S3_ENDPOINT: endpoint, MEDIA_S3_REGION: region };
  return {
    name: 'to an S3-compatible store',
    ours: { ...store, MEDIA_S3_ACCESS_KEY_ID: accessKeyId, MEDIA_S3_SECRET_ACCESS_KEY: secretAccessKey },
    floor: { S3: JSON.stringify({ bucket, options }) },
    empty: async () => {},
  };
}

export const campaignUploads: Case = {
  name: 'campaign: uploads',
  async run(tools) {
    const folder = await mkdtemp(join(tmpdir(), 'bench-uploads-'));
    try {
      const toFolder = await measure(tools, folderTarget(folder));
      if (tools.s3Url === undefined) return toFolder;
      return [...toFolder, ...(await measure(tools, await bucketTarget(tools.s3Url)))];
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
};
