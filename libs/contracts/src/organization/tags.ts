import { z } from 'zod';
import { CommaSeparated } from '../wire/formats.ts';

const maxCharacters = 50;
const maxTags = 50;
const tooLong = `must have at most ${maxCharacters} characters`;

/** One spelling of what reads alike. Twice NFKC: lower case of some letters is composed anew. Idempotent. */
const normalized = (text: string) => text.normalize('NFKC').toLowerCase().normalize('NFKC').trim().replace(/\s+/g, '-');

/** A tag: 1 to 50 letters, marks and digits of any script, and `-_.:`; never a comma, for filters join tags by commas. */
export const Tag = z
  .string()
  // Before it is normalized, as some characters become eighteen.
  .max(4 * maxCharacters, { error: tooLong, abort: true })
  .overwrite(normalized)
  .min(1, 'must not be empty')
  .refine((tag) => [...tag].length <= maxCharacters, tooLong)
  .refine((tag) => /^[\p{L}\p{M}\p{Nd}_.:-]*$/u.test(tag), 'must have letters, digits and - _ . : only')
  .meta({ maxLength: maxCharacters, description: 'Lower case, without spaces: others become so', example: 'window' });

/** In the order of their code points, which is also that of `COLLATE "C"` in Postgres; each once. */
const distinct = (tags: string[]) => [...new Set(tags)].sort(byCodePoint);

function byCodePoint(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return (a.codePointAt(at) ?? -1) - (b.codePointAt(at) ?? -1);
}

/** Up to 50 as given; normalized, each once, sorted. */
export const Tags = z
  .array(Tag)
  .max(maxTags, `must have at most ${maxTags} values`)
  .overwrite(distinct)
  .meta({ description: 'Normalized, each once, sorted', example: ['eye-level', 'window'] });

/** `?tags=window,Portrait`: comma-joined, normalized like the tags themselves. */
export const tagsFilter = CommaSeparated(Tag, maxTags).overwrite(distinct);
