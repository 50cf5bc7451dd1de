import { getMediaAnalysis, getMediaAsset, listMediaAssets, Problem } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { AssetRow } from './asset.store.ts';
import { findAnalysis, findAsset, findAssets } from './asset.store.ts';
import { viewAsset } from './asset.view.ts';
import type { MediaDependencies } from './dependencies.ts';

export const listAssetsEndpoint = ({ database: { sql }, clock, urls }: MediaDependencies) =>
  implement(listMediaAssets, async ({ query, caller }) => {
    const scope = cursorScope(listMediaAssets.operation, query);
    const [before] = readCursor(query.cursor, scope, ['string']) ?? [];
    const found = await findAssets(sql, caller, { ...query, limit: query.limit + 1, before });
    const now = clock.now();
    const position = (row: AssetRow) => [row.id];
    return cutPage(found, { limit: query.limit, scope, position, view: (row) => viewAsset(urls, row, now) });
  });

export const getAssetEndpoint = ({ database: { sql }, clock, urls }: MediaDependencies) =>
  implement(getMediaAsset, async ({ params, caller }) => {
    const asset = await findAsset(sql, caller, params.id);
    if (!asset) throw Problem.notFound();
    return viewAsset(urls, asset, clock.now());
  });

export const getAnalysisEndpoint = ({ database: { sql } }: MediaDependencies) =>
  implement(getMediaAnalysis, async ({ params, caller }) => {
    const asset = await findAsset(sql, caller, params.id);
    const row = asset && (await findAnalysis(sql, asset.id));
    if (!row) throw Problem.notFound();
    return {
      id: row.id,
      media_asset_id: row.media_asset_id,
      analyser: row.analyser,
      heuristic: row.heuristic,
      ...(row.frame_at_ms !== null && { frame_at_ms: row.frame_at_ms }),
      technical: row.technical,
      look: row.look,
      created_at: row.created_at.toISOString(),
    };
  });
