import type { SeesSubject } from '../jobs/index.ts';
import { findAsset } from './asset.store.ts';
import { completeAssetEndpoint, deleteAssetEndpoint, renewUploadEndpoint } from './change-asset.ts';
import { createAssetEndpoint } from './create-asset.ts';
import type { MediaDependencies } from './dependencies.ts';
import { getAnalysisEndpoint, getAssetEndpoint, listAssetsEndpoint } from './read-assets.ts';
import { receiveUploadEndpoint } from './receive-upload.ts';
import { sendFileEndpoint } from './send-file.ts';

export type { Look } from './analysis.ts';
export { pictureUrl } from './asset.view.ts';
export { findDecoder } from './ffmpeg.ts';
export { processingWork } from './process-asset.ts';
export { openStore } from './store/index.ts';
export { sweepJob, sweepName } from './sweep.ts';
export { createSigner } from './tickets.ts';
export { createMediaUrls } from './urls.ts';
export { removeOrphans } from './work-folder.ts';

export const mediaEndpoints = (dependencies: MediaDependencies) => [
  listAssetsEndpoint(dependencies),
  createAssetEndpoint(dependencies),
  getAssetEndpoint(dependencies),
  deleteAssetEndpoint(dependencies),
  renewUploadEndpoint(dependencies),
  completeAssetEndpoint(dependencies),
  getAnalysisEndpoint(dependencies),
  receiveUploadEndpoint(dependencies),
  sendFileEndpoint(dependencies),
];

/** Jobs of an asset are seen with it. */
export const seesAsset: SeesSubject['media_processing'] = async (tx, caller, id) =>
  (await findAsset(tx, caller, id)) !== undefined;
