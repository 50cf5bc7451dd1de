import type { Implementation } from '@attribution/service';
import { createAdEndpoint } from './create-ad.ts';
import { deleteAdEndpoint } from './delete-ad.ts';
import type { Dependencies } from './dependencies.ts';
import { getAdEndpoint } from './get-ad.ts';
import { listAdsEndpoint } from './list-ads.ts';
import { deleteProfileEndpoint, getProfileEndpoint, replaceProfileEndpoint } from './profiles.ts';
import { updateAdEndpoint } from './update-ad.ts';

export { lockAd } from './ad.store.ts';
export { useAsset } from './asset.store.ts';

export const adEndpoints = (dependencies: Dependencies): Implementation[] => [
  listAdsEndpoint(dependencies),
  createAdEndpoint(dependencies),
  getAdEndpoint(dependencies),
  updateAdEndpoint(dependencies),
  deleteAdEndpoint(dependencies),
  getProfileEndpoint(dependencies),
  replaceProfileEndpoint(dependencies),
  deleteProfileEndpoint(dependencies),
];
