import { z } from 'zod';

/** What is read of Nominatim's answers: https://nominatim.org/release-docs/latest/api/Output/ */

/** One line of text. Others would be no names. */
const text = z
  .string()
  .max(500)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u);
const degrees = (most: number) =>
  z
    .union([
      z
        .string()
        .regex(/^-?\d{1,3}(\.\d{1,20})?$/)
        .transform(Number),
      z.number(),
    ])
    .pipe(z.number().min(-most).max(most));

export const Found = z.object({
  lat: degrees(90),
  lon: degrees(180),
  name: text.nullish(),
  display_name: text,
  /** From 4, a country, to 30, a house. */
  place_rank: z.int().min(0).max(30).nullish(),
  addresstype: text.nullish(),
  licence: text.nullish(),
  address: z
    .object({
      state: text.optional(),
      region: text.optional(),
      country_code: z
        .string()
        .regex(/^[A-Za-z]{2}$/)
        .optional(),
    })
    .nullish(),
  extratags: z.object({ population: z.union([z.string().max(20), z.number()]).optional() }).nullish(),
});
export type Found = z.output<typeof Found>;

export const FoundList = z.array(Found).max(100);

/** There may be nothing at a point, in the middle of an ocean. */
export const Reversed = z.union([Found, z.object({ error: text })]);
export type Reversed = z.output<typeof Reversed>;
