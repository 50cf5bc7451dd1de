import { z } from 'zod';

/** The formats of spec §2.2, as schemas. */

/** The length of a timestamp with nine fractional digits, more than any of the platform's clocks resolves. */
const maxTimestamp = '2026-03-01T09:30:00.123456789Z'.length;

/** RFC 3339, UTC, `Z`. Postgres has no year 0, which a clock that was never set may name. */
export const Timestamp = z.iso
  .datetime('must be a timestamp in UTC, such as 2026-03-01T09:30:00Z')
  .max(maxTimestamp, 'must have at most 9 digits of a fraction of a second')
  .refine((timestamp) => !timestamp.startsWith('0000'), 'must be a timestamp in UTC, such as 2026-03-01T09:30:00Z')
  .meta({ description: 'RFC 3339, UTC', example: '2026-03-01T09:30:00.000Z' });

/** `YYYY-MM-DD`, a day of the local calendar, which has no year 0. */
export const CalendarDate = z.iso
  .date('must be a calendar date (YYYY-MM-DD)')
  .refine((date) => !date.startsWith('0000'), 'must be a calendar date (YYYY-MM-DD)')
  .meta({ example: '2026-03-01' });

/** A whole number ≥ 0. */
export const Count = z.int().min(0);

/** Integer cents, signed. */
export const Cents = z.int().meta({ description: 'Integer cents', example: 1990 });

/** A number of tokens, signed. */
export const Tokens = z.int().meta({ description: 'Whole tokens', example: 1000 });

/** One line of text for people, trimmed, 1 to `max` characters. */
export function Name(max = 200) {
  return z
    .string()
    .max(max, `must have at most ${max} characters`) // Checked before trimming, because the document states it for the value as sent.
    .trim()
    .min(1, 'must not be empty')
    .refine((name) => !/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name), 'must be one line, without control characters')
    .meta({ description: 'One line, trimmed' });
}

/**
 * What mail programs make a link of: an address with a scheme, `www.`, and any host name. A list of top-level domains
 * would grow old, so every dot that stands right between a letter or digit and two letters counts as that of a host name.
 * A dot that ends a word is none, so `A.P. Møller`, `B.V.`, `Ph.D.`, `St. Gallen` and `No.1` are names; who is called
 * `Booking.com` or `Co.KG`, which are host names, writes `Booking` or `Co. KG`.
 */
const webAddress = /:\/\/|\bwww\.|(?<=[\p{L}\p{N}\p{M}-])\.(?=[\p{L}\p{M}]{2})/iu;

/** Other dots (IDNA), and characters that nobody sees, do not hide one. */
const seen = (text: string) =>
  text
    .normalize('NFKC')
    .replaceAll('。', '.')
    .replaceAll(/\p{Cf}/gu, '');

export const holdsWebAddress = (text: string): boolean => webAddress.test(seen(text));

/** A name that is put into mail to others, who shall not find a stranger's link there (decision 49). */
export function MailedName(max = 200) {
  return Name(max)
    .refine((name) => !holdsWebAddress(name), 'must hold no web address (a dot inside a name is followed by a space)')
    .meta({ description: 'One line, trimmed, without a web address, because it is put into mail' });
}

/** Free text, up to `max` characters. */
export function Text(max = 5000) {
  return z.string().max(max, `must have at most ${max} characters`);
}

/** Any JSON object. Its depth and characters are checked with the whole body. */
export function JsonObject() {
  return z.record(z.string(), z.unknown());
}

/** Dot-atoms of the characters that addresses have in practice, and a host name (RFC 5321 §4.1.2, RFC 1123 §2.1). */
const mailbox =
  /^[A-Za-z0-9_'+-]+(?:\.[A-Za-z0-9_'+-]+)*@(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63}$/;

/** RFC 5321 §4.5.3.1.1. */
const maxLocalPart = 64;

export const Email = z
  .string()
  .trim()
  .max(254, 'must have at most 254 characters')
  .regex(mailbox, 'must be an email address')
  .refine((address) => address.indexOf('@') <= maxLocalPart, 'must be an email address')
  .meta({ format: 'email', example: 'ada@example.com' });

/** It must begin with a capital letter, which excludes offsets. */
const ianaName = /^[A-Z][A-Za-z0-9_+-]*(\/[A-Z][A-Za-z0-9_+-]*)*$/;

/**
 * Whether the runtime knows an IANA zone or link of exactly this spelling. Temporal returns a name in its canonical letter
 * case and does not follow links; Intl follows links, but also accepts ICU's own names (`PST`, `SystemV/AST4`). A look-up
 * takes 2 to 4 µs, so it needs no cache.
 */
function isTimeZone(name: string): boolean {
  if (!ianaName.test(name)) return false;
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId === name;
  } catch {
    return false;
  }
}

export const TimeZone = z
  .string()
  .max(64)
  .refine(isTimeZone, 'must be an IANA time zone name')
  .meta({ description: 'IANA time zone name; local days are measured in it', example: 'Europe/Zurich' });

/** One query parameter with comma-joined values (spec §2.2); empty parts are refused. */
export function CommaSeparated<T extends z.ZodType<string, string>>(item: T, max = 100) {
  const items = z.toJSONSchema(item);
  delete items.$schema;
  return z
    .string()
    .transform((joined) => joined.split(','))
    .pipe(z.array(item).max(max, `must have at most ${max} values`))
    .refine((values: readonly string[]) => !values.includes(''), 'must not have empty values')
    .meta({ type: 'array', items, minItems: 1, maxItems: max, description: 'Comma-joined values' });
}

/** Fields that a resource has but this request cannot change. Naming one is an error, rather than being ignored. */
export function unchangeable<const F extends string>(...fields: F[]) {
  const refuse = z.never('cannot be changed here').optional();
  return Object.fromEntries(fields.map((field) => [field, refuse])) as Record<F, typeof refuse>;
}
