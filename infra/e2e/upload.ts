import { createHash } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import {
  type Client,
  completeMediaAsset,
  createMediaAsset,
  getJob,
  getMediaAsset,
  type Job,
  type MediaAsset,
} from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import type { z } from 'zod';

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Resolves with the job when it has ended. */
export const untilEnded = (client: Client, id: string): Promise<z.output<typeof Job>> =>
  eventually(async () => {
    const { body } = await client.call(getJob, { params: { id } });
    if (body.finished_at === null) throw new Error(`The job is ${body.status}, at ${body.progress} %`);
    return body;
  });

/** Uploads bytes by a signed URL, and resolves with the asset once it is processed. */
export async function upload(
  client: Client,
  media_library_id: string,
  { filename, bytes }: { readonly filename: string; readonly bytes: Buffer },
): Promise<z.output<typeof MediaAsset>> {
  const promised = { media_library_id, filename, size_bytes: bytes.length };
  const { id, upload_url, upload_headers } = (await client.call(createMediaAsset, { body: promised })).body;
  const sent = await fetch(upload_url, { method: 'PUT', headers: upload_headers, body: new Uint8Array(bytes) });
  if (sent.status !== 204) throw new Error(`The upload was answered ${sent.status}: ${await sent.text()}`);
  const body = { sha256: sha256Of(bytes) };
  const { job_id } = (await client.call(completeMediaAsset, { params: { id }, body })).body;
  await untilEnded(client, job_id);
  return (await client.call(getMediaAsset, { params: { id } })).body;
}

function chunk(type: string, content: Buffer): Buffer {
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  const named = Buffer.concat([Buffer.from(type), content]);
  length.writeUInt32BE(content.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
}

/** A picture of one grey from 0 (black) to 255, as PNG of one channel. */
export function plainPicture(width: number, height: number, grey = 0): Buffer {
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0]);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Each line begins with the kind of its filter, of which 0 is none.
  const line = Buffer.concat([Buffer.alloc(1), Buffer.alloc(width, grey)]);
  const pixels = deflateSync(Buffer.concat(Array.from({ length: height }, () => line)));
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}
