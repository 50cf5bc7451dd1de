import { completeMediaAsset, deleteMediaAsset, Problem, renewMediaUpload } from '@attribution/contracts';
import { afterCommit, type Sql } from '@attribution/database';
import { implement, implementWrite } from '@attribution/service';
import type { AssetRow } from './asset.store.ts';
import { changeAsset, findAsset, findParts, isCover, lockAsset } from './asset.store.ts';
import { partsOf } from './asset.ts';
import { viewUpload } from './asset.view.ts';
import type { MediaDependencies } from './dependencies.ts';
import { removeAsset } from './sweep.ts';

const received = async (tx: Sql, id: string) => new Set((await findParts(tx, id)).map((part) => part.part_number));

function requireAwaiting({ status }: AssetRow): void {
  if (status !== 'awaiting_upload') throw new Problem('conflict', `The asset is ${status}: it awaits no upload.`);
}

export const renewUploadEndpoint = ({ database: { sql }, clock, urls }: MediaDependencies) =>
  implement(renewMediaUpload, async ({ params, caller }) => {
    const asset = await findAsset(sql, caller, params.id);
    if (!asset) throw Problem.notFound();
    requireAwaiting(asset);
    return viewUpload(urls, asset, await received(sql, asset.id), clock.now());
  });

export const completeAssetEndpoint = ({ database, clock, jobs }: MediaDependencies) =>
  implementWrite(completeMediaAsset, database.sqlTransaction, async ({ params, body, caller, transaction }) =>
    transaction(async (tx) => {
      const asset = await lockAsset(tx, caller, params.id);
      if (!asset) throw Problem.notFound();
      requireAwaiting(asset);
      await requireBytes(tx, asset);
      const promised = [asset.sha256, body.sha256 ?? null].filter((hash) => hash !== null);
      const { id, account_id } = asset;
      const job = await jobs.begin(tx, {
        kind: 'media_processing',
        account_id,
        subject_id: id,
        created_by: caller.id,
        data: { asset_id: id, promised },
      });
      const sha256 = asset.sha256 ?? body.sha256 ?? null;
      await changeAsset(tx, id, { status: 'uploaded', sha256, job_id: job, updated_at: clock.now() });
      return { job_id: job };
    }),
  );

async function requireBytes(tx: Sql, asset: AssetRow): Promise<void> {
  if (asset.upload_key !== null) return;
  const parts = partsOf(Number(asset.size_bytes))?.sizes.length;
  const there = parts === undefined ? 0 : (await received(tx, asset.id)).size;
  if (there === parts) return;
  if (there === 0) throw new Problem('conflict', 'The bytes are missing.');
  throw new Problem('conflict', `Parts are missing: ${there} of ${parts} are there.`);
}

export const deleteAssetEndpoint = ({ database, clock, sweep }: MediaDependencies) =>
  implementWrite(deleteMediaAsset, database.sqlTransaction, async ({ params, caller, transaction }) =>
    transaction(async (tx) => {
      const asset = await lockAsset(tx, caller, params.id);
      if (!asset) throw Problem.notFound();
      await requireUnused(tx, asset.id);
      await removeAsset(tx, asset, clock.now());
      afterCommit(tx, sweep);
    }),
  );

async function requireUnused(tx: Sql, id: string): Promise<void> {
  if (await isCover(tx, id)) throw new Problem('conflict', 'The asset is the cover of a campaign.');
  // What a live version plays is among them: its ads cannot be deleted.
  const [ad] = await tx.$queryRaw<object[]>`SELECT FROM ads WHERE media_asset_id = ${id} LIMIT 1`;
  if (ad) throw new Problem('conflict', 'An ad is made of the asset.');
}
