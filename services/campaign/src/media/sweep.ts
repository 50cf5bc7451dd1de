import type { Sql } from '@attribution/database';
import type { Clock } from '@attribution/runtime';
import type { Job } from '@attribution/service';
import pLimit from 'p-limit';
import type { CampaignDatabase } from '../store.ts';
import type { AssetRow } from './asset.store.ts';
import { deleteAssetRow, findAbandoned, findParts, isShared, lockAssetById } from './asset.store.ts';
import { doomObjects, forgetObject, lockDoomed, lockObject } from './object.store.ts';
import type { ObjectStore } from './store/index.ts';

/** How long an asset may wait for its bytes. */
const awaitsMs = 24 * 60 * 60_000;

export const sweepName = 'sweep-media';

interface Dependencies {
  readonly database: CampaignDatabase;
  readonly store: ObjectStore;
  readonly clock: Clock;
}

/** Deletes the objects that nothing refers to, and assets whose bytes never came. */
export function sweepJob({ database, store, clock }: Dependencies): Job {
  async function sweepOne(): Promise<boolean> {
    return database.sqlTransaction(async (tx) => {
      // One object a transaction: what was deleted of the store stays deleted if the next one fails.
      const [key] = await lockDoomed(tx, clock.now(), 1);
      if (key === undefined) return false;
      await store.remove(key);
      await forgetObject(tx, key);
      return true;
    });
  }

  async function abandon(id: string): Promise<void> {
    await database.sqlTransaction(async (tx) => {
      const asset = await lockAssetById(tx, id);
      if (asset?.status !== 'awaiting_upload') return;
      await removeAsset(tx, asset, clock.now());
    });
  }

  const oneAtATime = pLimit(1);
  return {
    name: sweepName,
    every: 60_000,
    async run(stopping) {
      const before = new Date(clock.now().getTime() - awaitsMs);
      const abandoned = await findAbandoned(database.sql, before, 1_000);
      // One that cannot be deleted keeps neither the others nor the objects.
      const ended = await Promise.allSettled(abandoned.map((id) => oneAtATime(() => abandon(id))));
      while (!stopping.aborted && (await sweepOne()));
      for (const one of ended) if (one.status === 'rejected') throw one.reason;
    },
  };
}

/** Deletes the row of a locked asset, and dooms its objects. */
export async function removeAsset(tx: Sql, asset: AssetRow, now: Date): Promise<void> {
  await doomAssetObjects(tx, asset, now);
  await deleteAssetRow(tx, asset.id);
}

/** Dooms all objects of a locked asset, but for a content that others share. */
export async function doomAssetObjects(tx: Sql, asset: AssetRow, now: Date): Promise<void> {
  const { upload_key, content_key, poster_key, thumbnail_key } = asset;
  const parts = (await findParts(tx, asset.id)).map(({ key }) => key);
  const own = [upload_key, poster_key, thumbnail_key, ...parts].filter((key) => key !== null);
  if (content_key !== null) {
    await lockObject(tx, content_key);
    if (!(await isShared(tx, content_key, asset.id))) own.push(content_key);
  }
  await doomObjects(tx, own, now);
}
