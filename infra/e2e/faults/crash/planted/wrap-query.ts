import { textOf } from '../kill/watch-queries.ts';

type Query = (this: object, ...args: unknown[]) => unknown;

type Callback = (error: unknown, result?: unknown) => void;

/** Replaces `query`. `instead` and `plain` return promises, also for calls with a callback. */
export function wrapQuery(
  prototype: object,
  instead: (client: object, text: string, args: unknown[], plain: Query) => unknown,
): void {
  const holder = prototype as { query: Query };
  const plain = holder.query;
  holder.query = function query(...args) {
    const callback = args.at(-1);
    if (typeof callback !== 'function') return instead(this, textOf(args[0]), args, plain);
    const outcome = Promise.resolve(instead(this, textOf(args[0]), args.slice(0, -1), plain));
    void outcome.then((result) => (callback as Callback)(undefined, result), callback as Callback);
    return undefined;
  };
}
