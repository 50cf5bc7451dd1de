import { isDeepStrictEqual } from 'node:util';

/** The fields that differ, as they are now: what a record of a change tells. */
export const changesIn = <T extends object>(before: T, after: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(value, before[name as keyof T])),
  ) as Partial<T>;
