import { AsyncLocalStorage } from 'node:async_hooks';
import { expect, test } from '@jest/globals';
import { watchQueries } from '../faults/crash/kill/watch-queries.ts';

type Answer = (error: unknown, result: unknown) => void;

test.each(['callback', 'promise'])('a watcher is called in the context of whoever sent the query: %s', async (way) => {
  const sender = new AsyncLocalStorage<string>();
  const prototype = {
    query(_text: string, answer?: Answer): unknown {
      const result = { rows: [{ n: 1 }] };
      // As a connection does, which was opened by somebody else.
      if (answer) return void sender.exit(() => setImmediate(answer, undefined, result));
      return sender.exit(async () => result);
    },
  };
  const seen: unknown[] = [];
  watchQueries(prototype, {
    before: (_client, text) => seen.push(['before', text, sender.getStore()]),
    after: (_client, text, rows) => seen.push(['after', text, sender.getStore(), rows]),
  });
  await sender.run('a batch', () =>
    way === 'promise'
      ? prototype.query('SELECT 1')
      : new Promise((resolve) => prototype.query('SELECT 1', (_error, result) => resolve(result))),
  );
  expect(seen).toEqual([
    ['before', 'SELECT 1', 'a batch'],
    ['after', 'SELECT 1', 'a batch', [{ n: 1 }]],
  ]);
});
