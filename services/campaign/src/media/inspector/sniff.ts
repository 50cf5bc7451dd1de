import type { MediaType } from '@attribution/contracts';
import { fileTypeFromFile } from 'file-type';

/** An animated PNG is a PNG, of which the first frame is shown. */
const alike: Readonly<Record<string, MediaType>> = {
  'image/apng': 'image/png',
  'image/png': 'image/png',
  'image/jpeg': 'image/jpeg',
  'image/webp': 'image/webp',
  'image/gif': 'image/gif',
  'video/mp4': 'video/mp4',
  'video/x-m4v': 'video/mp4',
  'video/webm': 'video/webm',
};

/** What a file is by its bytes: the media type, and whether it is one of ours; undefined if nobody knows it. */
export async function sniff(path: string): Promise<{ readonly name: string; readonly type?: MediaType } | undefined> {
  const found = await fileTypeFromFile(path);
  const type = found && alike[found.mime];
  return found && { name: found.mime, ...(type && { type }) };
}
