import { createHash } from 'node:crypto';
import { Problem } from '@attribution/contracts';

/** The end of a page: the values of the last row's sort keys. */
export type Position = readonly (string | number)[];

/**
 * Binds cursors to one list and its filters, so that a cursor of another list is refused rather than misread.
 * `filters` are the query's own values, without `cursor` and `limit`.
 */
export function cursorScope(operation: string, filters: object = {}): string {
  const { cursor: _, limit: __, ...rest } = filters as Record<string, unknown>;
  return createHash('sha256')
    .update(JSON.stringify([operation, rest]))
    .digest('base64url')
    .slice(0, 11);
}

/** `time`: milliseconds since the epoch, within the range that the database can store. */
type PositionType = 'string' | 'uuid' | 'integer' | 'time';

/** The position in a cursor, with values of the given types. Throws `validation-error` for any other cursor. */
export function readCursor<const T extends readonly PositionType[]>(
  cursor: string | undefined,
  scope: string,
  types: T,
): { [K in keyof T]: T[K] extends 'string' | 'uuid' ? string : number } | undefined {
  if (cursor === undefined) return undefined;
  try {
    const bytes = Buffer.from(cursor, 'base64url');
    const [ofScope, ...position] = JSON.parse(bytes.toString('utf8')) as unknown[];
    // Decoding ignores characters outside base64url, so this refuses a cursor to which something was added.
    const whole = bytes.toString('base64url') === cursor;
    const fits = position.length === types.length && types.every((type, at) => isOfType(position[at], type));
    if (whole && ofScope === scope && fits) return position as never;
  } catch {
    // Not JSON: refused below.
  }
  throw new Problem('validation-error', 'query.cursor: is not a next_cursor of this list with these filters.');
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const lastTime = Date.UTC(9999, 11, 31);

function isOfType(value: unknown, type: PositionType): boolean {
  if (type === 'integer') return Number.isSafeInteger(value);
  if (type === 'time') return Number.isSafeInteger(value) && Number(value) >= 0 && Number(value) <= lastTime;
  if (type === 'uuid') return typeof value === 'string' && uuid.test(value);
  return typeof value === 'string' && value.length <= 200 && !value.includes('\0') && value.isWellFormed();
}

/**
 * The bytes of a page as JSON, at most, without the cursor: the whole response has 1 MiB at most. A single entry that is
 * larger is a page of its own.
 */
export const maxPageBytes = 1_048_576 - 4_096;

/**
 * Cuts `limit + 1` rows to a page of `limit` and of 1 MiB at most. The extra row shows whether there are more, so that a
 * last page that is exactly full has no next cursor.
 */
export function cutPage<Row, Entry>(
  rows: readonly Row[],
  page: { limit: number; scope: string; position: (row: Row) => Position; view: (row: Row) => Entry },
): { entries: Entry[]; next_cursor: string | null } {
  const viewed = rows.slice(0, page.limit).map((row) => page.view(row));
  const entries = viewed.slice(0, countWithin(viewed, maxPageBytes));
  const last = rows[entries.length - 1];
  if (rows.length <= entries.length || last === undefined) return { entries, next_cursor: null };
  const json = JSON.stringify([page.scope, ...page.position(last)]);
  return { entries, next_cursor: Buffer.from(json, 'utf8').toString('base64url') };
}

/** How many of the entries, but at least one, have at most so many bytes as a JSON array. */
function countWithin(entries: readonly unknown[], bytes: number): number {
  // Nearly every page is small enough as a whole, and measuring each of its entries takes longer.
  if (bytesOf(entries) <= bytes) return entries.length;
  let count = 0;
  for (let used = '[]'.length; count < entries.length; count++) {
    used += bytesOf(entries[count]) + ','.length;
    if (used > bytes) break;
  }
  return Math.max(count, 1);
}

const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
