import { AsyncLocalStorage } from 'node:async_hooks';

/** Callbacks around each query. */
interface QueryWatcher {
  before(client: object, text: string, values: readonly unknown[]): void;
  /** Called before the result is passed to the sender of the query, in the sender's asynchronous context. */
  after(client: object, text: string, rows: readonly unknown[]): void;
}

type Query = (this: object, ...args: unknown[]) => unknown;
type Callback = (error: unknown, result: unknown) => void;

/** Patches `query` so that the watcher is notified of every query, whether it uses a promise or a callback. */
export function watchQueries(prototype: object, watcher: QueryWatcher): void {
  const holder = prototype as { query: Query };
  const plain = holder.query;
  holder.query = function query(...args) {
    const text = textOf(args[0]);
    const notify = (result: unknown) => watcher.after(this, text, rowsOf(result));
    watcher.before(this, text, valuesOf(args));
    const callbackIndex = args.findLastIndex((arg) => typeof arg === 'function');
    if (callbackIndex >= 0) {
      const callback = args[callbackIndex] as Callback;
      // The connection calls back in its own context.
      const wrapped: Callback = AsyncLocalStorage.bind((error: unknown, result: unknown) => {
        if (!error) notify(result);
        callback(error, result);
      });
      return plain.apply(this, args.with(callbackIndex, wrapped));
    }
    const outcome = plain.apply(this, args);
    if (!(outcome instanceof Promise)) return outcome;
    return outcome.then((result: unknown) => {
      notify(result);
      return result;
    });
  };
}

/** The SQL of the first argument of `query`. */
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
