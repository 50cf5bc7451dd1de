import { randomUUID } from 'node:crypto';
import { testServers } from '@attribution/testing';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';

export const s3Url = testServers.s3Url();

/** Makes a bucket of its own. */
export async function newBucket() {
  const { username, password, protocol, host } = new URL(s3Url ?? '');
  const options = {
    region: 'us-east-1',
    endpoint: `${protocol}//${host}`,
    credentials: { accessKeyId: decodeURIComponent(username), secretAccessKey: decodeURIComponent(password) },
  };
  const bucket = `test-${randomUUID()}`;
  const client = new S3Client({ ...options, forcePathStyle: true });
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  client.destroy();
  return { bucket, ...options };
}
