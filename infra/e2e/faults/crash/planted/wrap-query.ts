import { textOf } from '../kill/watch-queries.ts';

type Query = (this: object, ...args: unknown[]) => unknown;

/** Replaces `query`, for calls that return a promise. */
export function wrapQuery(
  prototype: object,
  instead: (client: object, text: string, args: unknown[], plain: Query) => unknown,
): void {
  const holder = prototype as { query: Query };
  const plain = holder.query;
  holder.query = function query(...args) {
    if (args.some((arg) => typeof arg === 'function')) return plain.apply(this, args);
    return instead(this, textOf(args[0]), args, plain);
  };
}
