import { type MediaType, mediaTypes, type NewMediaAsset } from '@attribution/contracts';
import type { z } from 'zod';
import type { AssetRow } from './asset.store.ts';

/** An asset that waits for its bytes. */
export function newAsset(
  made: Pick<AssetRow, 'id' | 'account_id' | 'created_by'>,
  promised: z.output<typeof NewMediaAsset>,
  now: Date,
): AssetRow {
  const { media_library_id, filename, size_bytes, mime_type, sha256 } = promised;
  return {
    ...made,
    media_library_id,
    filename,
    kind: mediaTypes[mime_type as MediaType].kind,
    status: 'awaiting_upload',
    size_bytes: String(size_bytes),
    mime_type,
    sha256,
    probe: null,
    failure: null,
    job_id: null,
    upload_key: null,
    content_key: null,
    poster_key: null,
    thumbnail_key: null,
    analysis_id: null,
    created_at: now,
    updated_at: now,
  };
}

/** Files that are larger may be sent in parts. */
const partBytes = 16 * 1024 * 1024;
const mostParts = 200;

export interface Parts {
  /** Of all but the last. */
  readonly partBytes: number;
  /** The bytes of each part, in order. */
  readonly sizes: readonly number[];
}

/** The parts of a file of this size; undefined if it has none. */
export function partsOf(bytes: number): Parts | undefined {
  if (bytes <= partBytes) return undefined;
  const size = Math.max(partBytes, Math.ceil(bytes / mostParts));
  const count = Math.ceil(bytes / size);
  const sizes = Array.from({ length: count }, (_, at) => Math.min(size, bytes - at * size));
  return { partBytes: size, sizes };
}
