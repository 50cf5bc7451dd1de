import { isDeepStrictEqual } from 'node:util';

/** The changed fields with their new values, for the audit record of the change. */
export const changesIn = <T extends object>(before: T, after: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(after).filter(([name, value]) => !isDeepStrictEqual(value, before[name as keyof T])),
  ) as Partial<T>;
