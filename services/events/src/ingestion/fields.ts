import { faultOfItem } from '@attribution/http';
import type { z } from 'zod';

/** Reads an item by its schema, or says what is wrong with it. */
export const reader =
  <S extends z.ZodType>(schema: S) =>
  (value: unknown): z.output<S> | string =>
    faultOfItem(schema, value) ?? schema.parse(value);

/** The fields of an item that were sent, without those that nobody knows and those that were filled in. */
export const fieldsSent = (item: object, value: unknown): object =>
  Object.fromEntries(Object.entries(item).filter(([name]) => Object.hasOwn(value as object, name)));
