import type { Manifest } from '@attribution/contracts';
import type { z } from 'zod';
import type { CurrentManifest } from './refresh.ts';

/** Makes the URL of a stored file, which is good until then. */
export type FileUrl = (
  file: { readonly key: string; readonly media: string; readonly bytes: number },
  expiresAt: Date,
) => string;

export function viewManifest(
  { built, facts, keys, version, hash, now }: CurrentManifest,
  fileUrl: FileUrl,
): z.output<typeof Manifest> {
  const { covers_from, covers_to, content } = built;
  const expiresAt = new Date(covers_to);
  const keyOf = new Map(facts.ads.map(({ sha256, campaign_ad_id }) => [sha256, keys.get(campaign_ad_id)]));
  return {
    ...content,
    version,
    hash,
    generated_at: now.toISOString(),
    covers_from: new Date(covers_from).toISOString(),
    covers_to: expiresAt.toISOString(),
    files: content.files.map((file) => {
      const key = keyOf.get(file.sha256);
      if (key === undefined) throw new Error(`There is no object of the live file ${file.sha256}`);
      const url = fileUrl({ key, media: file.mime, bytes: file.size_bytes }, expiresAt);
      return { ...file, url, url_expires_at: expiresAt.toISOString() };
    }),
  };
}
