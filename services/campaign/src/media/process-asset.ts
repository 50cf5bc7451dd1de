import { createHash, randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { afterCommit, type Sql } from '@attribution/database';
import { newId } from '@attribution/ids';
import type { Clock } from '@attribution/runtime';
import { failJob, type JobTry, type JobWork, succeedJob } from '../jobs/index.ts';
import type { CampaignDatabase } from '../store.ts';
import { analyse, type Findings } from './analyse.ts';
import type { AssetRow } from './asset.store.ts';
import { type AssetChange, changeAsset, deleteParts, findParts, insertAnalysis, lockAssetById } from './asset.store.ts';
import { BadContent, type Failure } from './failure.ts';
import type { Decoder } from './ffmpeg.ts';
import { outOfTime } from './limited.ts';
import { announceObject, claimObjects } from './object.store.ts';
import type { ObjectStore } from './store/index.ts';
import { doomAssetObjects } from './sweep.ts';
import { openWorkFolder, removeOrphans } from './work-folder.ts';

/** What the job is given: the asset, and the hashes that were promised. */
export interface Processing {
  readonly asset_id: string;
  readonly promised: readonly string[];
}

interface Dependencies {
  readonly database: CampaignDatabase;
  readonly clock: Clock;
  readonly store: ObjectStore;
  readonly decoder: () => Promise<Decoder | undefined>;
  readonly atATime: number;
  /** How long a try may take, in milliseconds. */
  readonly withinMs: number;
  /** Where it keeps files while it works. Default: the system's folder for temporary files. */
  readonly directory?: string | undefined;
  sweep(): void;
}

/** Reads the bytes of an asset once, judges them, and makes the asset ready, or fails it. */
export function processingWork(dependencies: Dependencies): JobWork<Processing> {
  const { database, clock, store, sweep } = dependencies;

  async function begin(id: string): Promise<AssetRow | undefined> {
    return database.sqlTransaction(async (tx) => {
      const asset = await lockAssetById(tx, id);
      if (asset?.status === 'uploaded') await changeAsset(tx, id, { status: 'processing', updated_at: clock.now() });
      return asset;
    });
  }

  /** The end of an asset and of its job, in one transaction. `write` says what the asset has become. */
  async function end(assetId: string, write: (tx: Sql) => Promise<AssetChange>): Promise<void> {
    await database.sqlTransaction(async (tx) => {
      const asset = await lockAssetById(tx, assetId);
      if (asset?.status !== 'processing' && asset?.status !== 'uploaded') return;
      await doomAssetObjects(tx, asset, clock.now());
      await deleteParts(tx, assetId);
      await changeAsset(tx, assetId, { ...(await write(tx)), upload_key: null, updated_at: clock.now() });
      afterCommit(tx, sweep);
    });
  }

  const fail = (job: string, assetId: string, failure: Failure, found: AssetChange = {}) =>
    end(assetId, async (tx) => {
      await failJob(tx, job, failure, clock.now());
      return { ...found, status: 'failed', failure };
    });

  async function keep(job: string, asset: AssetRow, findings: Findings, folder: string): Promise<void> {
    const { account_id, id } = asset;
    const content_key = `content/${account_id}/${findings.sha256}`;
    const pictures = findings.pictures && {
      poster_key: `pictures/${id}/${randomUUID()}-${findings.pictures.poster}`,
      thumbnail_key: `pictures/${id}/${randomUUID()}-${findings.pictures.thumbnail}`,
    };
    const put = async (key: string, path: string, bytes: number) => {
      await announceObject(database.sql, { key, account_id }, clock.now());
      if ((await store.sizeOf(key)) !== bytes) await store.put(key, createReadStream(path), bytes);
    };
    await put(content_key, join(folder, 'content'), findings.bytes);
    if (pictures && findings.pictures) {
      await put(pictures.poster_key, join(folder, 'poster'), findings.pictures.poster);
      await put(pictures.thumbnail_key, join(folder, 'thumbnail'), findings.pictures.thumbnail);
    }
    await end(id, async (tx) => {
      await claimObjects(tx, [content_key, ...Object.values(pictures ?? {})]);
      await insertAnalysis(tx, {
        ...{ id: newId('analysis'), media_asset_id: id, account_id, created_at: clock.now() },
        ...findings.analysis,
      });
      await succeedJob(tx, job, clock.now());
      return { ...findings.found, ...pictures, content_key, status: 'ready', probe: findings.probe };
    });
  }

  async function attempt({ id: job, data, signal, progress }: JobTry<Processing>): Promise<void> {
    const asset = await begin(data.asset_id);
    if (asset?.status !== 'uploaded' && asset?.status !== 'processing') {
      // It was deleted, or an earlier try has ended it and died before the queue knew.
      await succeedJob(database.sql, job, clock.now());
      return;
    }
    await removeOrphans(dependencies.directory);
    const work = await openWorkFolder(dependencies.directory);
    const folder = work.path;
    const found: AssetChange = {};
    try {
      const bytes = await fetchContent(dependencies, asset, join(folder, 'content'), signal);
      await progress(30);
      Object.assign(found, { size_bytes: String(bytes.bytes), sha256: bytes.sha256 });
      requirePromised(asset, bytes, data.promised);
      const decoder = await dependencies.decoder();
      const findings = await analyse({ folder, asset, ...bytes, decoder, signal, progress, found });
      await progress(90);
      await keep(job, asset, findings, folder);
    } catch (error) {
      const bad = signal.aborted ? signal.reason : error;
      if (!(bad instanceof BadContent)) throw error;
      await fail(job, asset.id, bad.failure, found);
    } finally {
      await work.remove();
    }
  }

  return {
    kind: 'media_processing',
    atATime: dependencies.atATime,
    async run(job) {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(outOfTime), dependencies.withinMs);
      try {
        await attempt({ ...job, signal: AbortSignal.any([job.signal, late.signal]) });
      } finally {
        clearTimeout(timer);
      }
    },
    giveUp: (job, { asset_id }) =>
      fail(job, asset_id, { code: 'not_processed', detail: 'It could not be processed. Upload it again.' }),
  };
}

/** The stored bytes, read once: into a file, and through the hash. */
async function fetchContent(
  { database, store }: Pick<Dependencies, 'database' | 'store'>,
  asset: AssetRow,
  path: string,
  signal: AbortSignal,
) {
  const parts = await findParts(database.sql, asset.id);
  const keys = asset.upload_key === null ? parts.map(({ key }) => key) : [asset.upload_key];
  const hash = createHash('sha256');
  let bytes = 0;
  const file = await open(path, 'wx', 0o600);
  try {
    for (const key of keys) {
      for await (const chunk of (await store.get(key)) as AsyncIterable<Buffer>) {
        signal.throwIfAborted();
        hash.update(chunk);
        await file.write(chunk);
        bytes += chunk.length;
      }
    }
  } finally {
    await file.close();
  }
  return { bytes, sha256: hash.digest('hex') };
}

function requirePromised(
  asset: AssetRow,
  { bytes, sha256 }: { readonly bytes: number; readonly sha256: string },
  promised: readonly string[],
): void {
  const wanted = Number(asset.size_bytes);
  if (bytes !== wanted) throw new BadContent('size_mismatch', `There are ${bytes} bytes; ${wanted} were promised.`);
  const other = promised.find((hash) => hash !== sha256);
  if (other !== undefined)
    throw new BadContent('checksum_mismatch', `The SHA-256 is ${sha256}; ${other} was promised.`);
}
