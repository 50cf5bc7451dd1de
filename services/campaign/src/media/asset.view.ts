import type { MediaAsset, MediaUpload } from '@attribution/contracts';
import type { z } from 'zod';
import type { AssetRow } from './asset.store.ts';
import { partsOf } from './asset.ts';
import { type MediaUrls, uploadUrlMs } from './urls.ts';

/** The media type of posters and thumbnails. */
const pictureMedia = 'image/webp';

/** The bytes of posters and thumbnails are with their names, because their URLs are made without asking the store. */
const bytesOf = (key: string) => Number(/-(\d+)$/.exec(key)?.[1] ?? 0);

export function viewAsset(urls: MediaUrls, row: AssetRow, now: Date): z.output<typeof MediaAsset> {
  const expires = urls.fileExpiry(now);
  const picture = (key: string | null) => pictureUrl(urls, key, expires);
  return {
    id: row.id,
    account_id: row.account_id,
    media_library_id: row.media_library_id,
    filename: row.filename,
    kind: row.kind,
    status: row.status,
    size_bytes: Number(row.size_bytes),
    mime_type: row.mime_type,
    sha256: row.sha256,
    probe: row.probe,
    analysis_id: row.analysis_id,
    failure: row.failure,
    job_id: row.job_id,
    url: fileUrl(urls, row, expires),
    poster_url: picture(row.poster_key),
    thumbnail_url: picture(row.thumbnail_key),
    urls_expire_at: row.content_key === null ? null : expires.toISOString(),
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}

/** The URL of an asset's file; null unless it is ready. */
const fileUrl = (
  urls: MediaUrls,
  { content_key: key, mime_type: media, size_bytes }: Pick<AssetRow, 'content_key' | 'mime_type' | 'size_bytes'>,
  expires: Date,
): string | null => (key === null ? null : urls.file({ key, media, bytes: Number(size_bytes) }, expires));

/** The URL of a poster or a thumbnail. */
export const pictureUrl = (urls: MediaUrls, key: string | null, expires: Date): string | null =>
  key === null ? null : urls.file({ key, media: pictureMedia, bytes: bytesOf(key) }, expires);

/** Where the bytes of an asset go, with the parts that were received. */
export function viewUpload(
  urls: MediaUrls,
  { id, size_bytes }: { readonly id: string; readonly size_bytes: number | string },
  received: ReadonlySet<number>,
  now: Date,
): z.output<typeof MediaUpload> {
  const expires = new Date(now.getTime() + uploadUrlMs);
  const bytes = Number(size_bytes);
  const parts = partsOf(bytes);
  const headers = { 'content-type': 'application/octet-stream' };
  const urlOf = (part: number | null, size: number) => urls.upload({ asset: id, part, bytes: size }, expires);
  const entry = (size: number, part: number) => ({
    part_number: part,
    size_bytes: size,
    url: urlOf(part, size),
    headers,
    received: received.has(part),
  });
  return {
    upload_url: urlOf(null, bytes),
    upload_headers: headers,
    upload_expires_at: expires.toISOString(),
    ...(parts && {
      upload_parts: { part_size_bytes: parts.partBytes, parts: parts.sizes.map((size, at) => entry(size, at + 1)) },
    }),
  };
}
