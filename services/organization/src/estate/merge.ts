/** Fields that a request changes; those left out keep their value. */
export type Fieldwise<Row> = { readonly [K in keyof Row]?: Row[K] | undefined };

/** The row as it is after the change. */
export function merge<Row extends object>(before: Row, change: Fieldwise<Row>): Row {
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  return { ...before, ...(Object.fromEntries(given) as Partial<Row>) };
}
