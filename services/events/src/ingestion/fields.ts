/** The fields of an item that were sent, without those that nobody knows and those that were filled in. */
export const fieldsSent = (item: object, value: unknown): object =>
  Object.fromEntries(Object.entries(item).filter(([name]) => Object.hasOwn(value as object, name)));
