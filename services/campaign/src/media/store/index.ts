import type { CampaignConfig } from '../../config.ts';
import { openFileStore } from './files.ts';
import type { ObjectStore } from './port.ts';
import { openS3Store } from './s3.ts';

export { NoSuchObject, type ObjectStore } from './port.ts';

/** The store that the settings name. */
export function openStore(config: CampaignConfig): ObjectStore {
  const { MEDIA_DIR, MEDIA_S3_BUCKET: bucket, MEDIA_S3_ENDPOINT: endpoint, MEDIA_S3_REGION: region } = config;
  if (bucket === undefined) return openFileStore(MEDIA_DIR ?? '');
  const { MEDIA_S3_ACCESS_KEY_ID: accessKeyId, MEDIA_S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  const credentials =
    accessKeyId !== undefined && secretAccessKey !== undefined ? { accessKeyId, secretAccessKey } : undefined;
  return openS3Store({ bucket, region, endpoint, credentials });
}
