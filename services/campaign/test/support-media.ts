import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import {
  type Client,
  completeMediaAsset,
  createMediaAsset,
  createMediaLibrary,
  getJob,
  getMediaAsset,
  type Job,
  type MediaAsset,
} from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import { eventually, type TestService, testSigner } from '@attribution/testing';
import sharp from 'sharp';
import type { z } from 'zod';

export const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** A signed URL names the gateway; tests ask the service itself. */
export const here = (service: TestService, url: string | null) => {
  if (url === null) throw new Error('There is no URL');
  const { pathname, search } = new URL(url);
  return service.url + pathname + search;
};

export const put = (service: TestService, url: string, bytes: Uint8Array, headers: Record<string, string> = {}) =>
  fetch(here(service, url), { method: 'PUT', body: new Uint8Array(bytes), headers });

export async function newLibrary(client: Client): Promise<string> {
  return (await client.call(createMediaLibrary, { body: { name: 'Spring' } })).body.id;
}

interface File {
  readonly filename: string;
  readonly bytes: Uint8Array;
  readonly fields?: object;
}

/** Promises a file. */
export async function promise(client: Client, { filename, bytes, fields }: File) {
  const media_library_id = await newLibrary(client);
  const body = { media_library_id, filename, size_bytes: bytes.length, ...fields };
  return (await client.call(createMediaAsset, { body })).body;
}

/** Promises a file, sends its bytes and completes it. Resolves when its job has ended. */
export async function process(service: TestService, client: Client, file: File) {
  const { id, upload_url } = await promise(client, file);
  const sent = await put(service, upload_url, file.bytes);
  if (sent.status !== 204) throw new Error(`The upload answered ${sent.status}: ${await sent.text()}`);
  return completed(client, id);
}

type Ended = { readonly asset: z.output<typeof MediaAsset>; readonly job: z.output<typeof Job> };

export async function completed(client: Client, id: string, body: object = {}): Promise<Ended> {
  const { job_id } = (await client.call(completeMediaAsset, { params: { id }, body })).body;
  const job = await eventually(async () => {
    const { body: found } = await client.call(getJob, { params: { id: job_id } });
    if (found.finished_at === null) throw new Error(`The job is ${found.status}`);
    return found;
  });
  return { asset: (await client.call(getMediaAsset, { params: { id } })).body, job };
}

/** The names of all objects in the store. */
export async function objectsIn(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => entry.name);
}

/** A picture of one colour. */
export const plain = (width = 64, height = 48, background = '#808080') =>
  sharp({ create: { width, height, channels: 3, background } });

/** An account whose owner's token lasts however far a test moves the clock. */
export function newLastingTenant(service: TestService) {
  const account = newId('account');
  const claims = { sub: newId('user'), account, role: 'owner', account_type: 'network', sid: newUuid() } as const;
  const token = testSigner.sign('at+jwt', claims, 400 * 24 * 60 * 60);
  return { account, owner: service.client.with({ token }) };
}
