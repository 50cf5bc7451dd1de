/** What is told of each query. */
interface QueryWatcher {
  before(client: object, text: string, values: readonly unknown[]): void;
  /** Told before whoever sent the query. */
  after(client: object, text: string, rows: readonly unknown[]): void;
}

type Query = (this: object, ...args: unknown[]) => unknown;
type Callback = (error: unknown, result: unknown) => void;

/** Tells the watcher of every query that is sent by way of `query`, with a promise or with a callback. */
export function watchQueries(prototype: object, watcher: QueryWatcher): void {
  const holder = prototype as { query: Query };
  const plain = holder.query;
  holder.query = function query(...args) {
    const text = textOf(args[0]);
    const done = (result: unknown) => watcher.after(this, text, rowsOf(result));
    watcher.before(this, text, valuesOf(args));
    const callback = args.findLastIndex((arg) => typeof arg === 'function');
    if (callback >= 0) {
      const told = args[callback] as Callback;
      const telling: Callback = (error, result) => {
        if (!error) done(result);
        told(error, result);
      };
      return plain.apply(this, args.with(callback, telling));
    }
    const outcome = plain.apply(this, args);
    if (!(outcome instanceof Promise)) return outcome;
    return outcome.then((result: unknown) => {
      done(result);
      return result;
    });
  };
}

/** The SQL of what `query` takes first. */
export function textOf(query: unknown): string {
  if (typeof query === 'string') return query;
  return String((query as { text?: unknown } | undefined)?.text ?? '');
}

function valuesOf([query, values]: readonly unknown[]): readonly unknown[] {
  const given = (query as { values?: unknown } | undefined)?.values ?? values;
  return Array.isArray(given) ? given : [];
}

function rowsOf(result: unknown): readonly unknown[] {
  const rows = (result as { rows?: unknown } | undefined)?.rows;
  return Array.isArray(rows) ? rows : [];
}
