import { z } from 'zod';

export const pageLimits = { min: 1, max: 200, default: 50 } as const;

const digits = z.string().regex(/^\d{1,6}$/, `must be a whole number from ${pageLimits.min} to ${pageLimits.max}`);

/** The query of every list: `cursor` from the page before, `limit` rows at most. */
export const pageQuery = {
  cursor: z
    .string()
    .min(1, 'must be the next_cursor of the page before')
    .max(1024)
    .optional()
    .meta({ description: '`next_cursor` of the page before' }),
  limit: digits
    .transform(Number)
    .pipe(
      z
        .int()
        .min(pageLimits.min, `must be at least ${pageLimits.min}`)
        .max(pageLimits.max, `must be at most ${pageLimits.max}`),
    )
    .default(pageLimits.default)
    .meta({
      type: 'integer',
      description: `Rows at most: ${pageLimits.min} to ${pageLimits.max}`,
      minimum: pageLimits.min,
      maximum: pageLimits.max,
      default: pageLimits.default,
    }),
};

export const nextCursor = z.string().nullable().meta({ description: 'null on the last page', example: null });

/** `{ entries, next_cursor }`, the shape of every list but the campaigns'. */
export function Page<T extends z.ZodType>(entry: T) {
  return z.object({ entries: z.array(entry), next_cursor: nextCursor });
}

/** `{ data, next_cursor }`, the shape of the campaign list alone (spec §4.5). */
export function DataPage<T extends z.ZodType>(entry: T) {
  return z.object({ data: z.array(entry), next_cursor: nextCursor });
}
