import { z } from 'zod';
import { CommaSeparated } from '../wire/formats.ts';

const maxCharacters = 50;
const maxTags = 50;
const tooLong = `must have at most ${maxCharacters} characters`;

/** One spelling for texts that read alike. NFKC is applied twice because lower-casing can decompose letters. Idempotent. */
const normalized = (text: string) => text.normalize('NFKC').toLowerCase().normalize('NFKC').trim().replace(/\s+/g, '-');

/** A tag: 1 to 50 letters, marks and digits of any script, and `-_.:`. A comma is not allowed, as filters join tags by commas. */
export const Tag = z
  .string()
  // Checked before normalization, because that turns some characters into eighteen.
  .max(4 * maxCharacters, { error: tooLong, abort: true })
  .overwrite(normalized)
  .min(1, 'must not be empty')
  .refine((tag) => [...tag].length <= maxCharacters, tooLong)
  .refine((tag) => /^[\p{L}\p{M}\p{Nd}_.:-]*$/u.test(tag), 'must have letters, digits and - _ . : only')
  .meta({ maxLength: maxCharacters, description: 'Lower case, without spaces: others become so', example: 'window' });

/** Sorted by code points, like `COLLATE "C"` in Postgres, without duplicates. */
const distinct = (tags: string[]) => [...new Set(tags)].sort(byCodePoint);

function byCodePoint(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1);
}

/** Up to 50 tags in the request; normalized, without duplicates, sorted. */
export const Tags = z
  .array(Tag)
  .max(maxTags, `must have at most ${maxTags} values`)
  .overwrite(distinct)
  .meta({ description: 'Normalized, each once, sorted', example: ['eye-level', 'window'] });

/** `?tags=window,Portrait`: comma-joined, normalized like the tags themselves. */
export const tagsFilter = CommaSeparated(Tag, maxTags).overwrite(distinct);
