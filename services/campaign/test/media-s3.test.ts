import { createMediaAsset, deleteMediaAsset, listCampaigns, renewMediaUpload } from '@attribution/contracts';
import { eventually, type TestService } from '@attribution/testing';
import { GetObjectCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startCampaign } from './support.ts';
import { completed, here, newLastingTenant, newLibrary, plain, promise, put, sha256 } from './support-media.ts';
import { newBucket, openWay, s3Url } from './support-s3.ts';

(s3Url === undefined ? describe.skip : describe)('media at an S3-compatible store', () => {
  let service: TestService;
  let client: S3Client;
  let Bucket: string;
  let way: Awaited<ReturnType<typeof openWay>>;
  beforeAll(async () => {
    const { bucket, region, endpoint, credentials } = await newBucket();
    Bucket = bucket;
    client = new S3Client({ region, endpoint, credentials, forcePathStyle: true });
    way = await openWay(endpoint);
    service = await startCampaign({
      ...{ MEDIA_DIR: '', MEDIA_S3_BUCKET: bucket, MEDIA_S3_ENDPOINT: way.endpoint },
      MEDIA_S3_ACCESS_KEY_ID: credentials.accessKeyId,
      MEDIA_S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    });
  });
  afterAll(async () => {
    await service.stop();
    way.close();
    client.destroy();
  });

  const objects = async () =>
    ((await client.send(new ListObjectsV2Command({ Bucket }))).Contents ?? []).map(({ Key = '' }) => Key).toSorted();
  const contentKey = (account: string, bytes: Uint8Array) => `content/${account}/${sha256(bytes)}`;

  test('a file goes from its upload to ready and is served with ranges; deleted, nothing of it is in the bucket', async () => {
    const { owner, account } = newLastingTenant(service);
    const bytes = await plain().png().toBuffer();
    const { id, upload_url } = await promise(owner, { filename: 'a.png', bytes, fields: { sha256: sha256(bytes) } });
    expect((await put(service, upload_url, Buffer.alloc(bytes.length))).status).toBe(400);
    expect((await put(service, upload_url, bytes)).status).toBe(204);
    const { asset } = await completed(owner, id);
    expect(asset).toMatchObject({ status: 'ready', sha256: sha256(bytes) });
    await eventually(async () => {
      expect((await objects()).map((key) => key.split('/')[0])).toEqual(['content', 'pictures', 'pictures']);
    });
    const stored = await client.send(new GetObjectCommand({ Bucket, Key: contentKey(account, bytes) }));
    expect(sha256((await stored.Body?.transformToByteArray()) ?? new Uint8Array())).toBe(sha256(bytes));

    const served = await fetch(here(service, asset.url), { headers: { range: 'bytes=1-3' } });
    expect([served.status, Buffer.from(await served.arrayBuffer()).toString()]).toEqual([206, 'PNG']);
    for (const url of [asset.url, asset.poster_url, asset.thumbnail_url])
      expect((await fetch(here(service, url))).status).toBe(200);

    expect((await owner.call(deleteMediaAsset, { params: { id } })).status).toBe(204);
    await eventually(async () => expect(await objects()).toEqual([]));
    expect((await fetch(here(service, asset.url))).status).toBe(404);
  });

  test('an upload in parts goes on after an interruption, and two assets share one content', async () => {
    const { owner, account } = newLastingTenant(service);
    const bytes = Buffer.alloc(18 * 1024 * 1024, await plain().png().toBuffer());
    const media_library_id = await newLibrary(owner);
    const create = { media_library_id, filename: 'a.png', size_bytes: bytes.length };
    async function send(): Promise<string> {
      const { id, upload_parts } = (await owner.call(createMediaAsset, { body: create })).body;
      const [first] = upload_parts?.parts ?? [];
      const partOf = (number: number) => {
        const size = upload_parts?.part_size_bytes ?? 0;
        return bytes.subarray((number - 1) * size, number * size);
      };
      expect((await put(service, first?.url ?? '', partOf(1))).status).toBe(204);
      const renewed = (await owner.call(renewMediaUpload, { params: { id } })).body.upload_parts?.parts ?? [];
      expect(renewed.map(({ received }) => received)).toEqual([true, ...renewed.slice(1).map(() => false)]);
      for (const { part_number, url, received } of renewed)
        if (!received) expect((await put(service, url, partOf(part_number))).status).toBe(204);
      const { asset } = await completed(owner, id, { sha256: sha256(bytes) });
      expect(asset).toMatchObject({ status: 'ready', sha256: sha256(bytes), size_bytes: bytes.length });
      return id;
    }
    const ids = [await send(), await send()];
    await eventually(async () => expect(await objects()).toHaveLength(5));
    expect(await objects()).toContain(contentKey(account, bytes));
    for (const id of ids) await owner.call(deleteMediaAsset, { params: { id } });
    await eventually(async () => expect(await objects()).toEqual([]));
  });

  test('while the store is away an upload is 503 and others go on; the job of a file goes on when it is back', async () => {
    const { owner } = newLastingTenant(service);
    const bytes = await plain(80, 60).png().toBuffer();
    const [sent, late] = [
      await promise(owner, { filename: 'sent.png', bytes }),
      await promise(owner, { filename: 'late.png', bytes }),
    ];
    expect((await put(service, sent.upload_url, bytes)).status).toBe(204);
    way.cut();
    const ended = completed(owner, sent.id);
    await eventually(async () => {
      const { rows } = await service.db.query('SELECT attempts FROM jobs WHERE subject_id = $1', [sent.id]);
      expect(rows).toEqual([{ attempts: 2 }]); // The first has failed.
    });
    expect((await put(service, late.upload_url, bytes)).status).toBe(503);
    expect((await owner.call(listCampaigns)).status).toBe(200);
    way.restore();
    expect(await ended).toMatchObject({ asset: { status: 'ready' }, job: { status: 'succeeded' } });
    expect((await put(service, late.upload_url, bytes)).status).toBe(204);
  });
});
