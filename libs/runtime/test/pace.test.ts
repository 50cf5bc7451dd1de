import { expect, test } from '@jest/globals';
import { createPace } from '../src/index.ts';
import { restAfter } from '../src/pace.ts';

const takes = (ms: number) => {
  for (const until = performance.now() + ms; performance.now() < until; );
};

test('others get a turn after every two milliseconds of work, and the results keep the order of the items', async () => {
  const items = Array.from({ length: 50 }, (_, n) => n);
  let turns = 0;
  let busy = true;
  const other = () => {
    turns++;
    if (busy) setImmediate(other);
  };
  setImmediate(other);
  const results = await createPace().map(items, (n) => {
    takes(1);
    return n * 2;
  });
  busy = false;
  expect(results).toEqual(items.map((n) => n * 2));
  expect(turns).toBeGreaterThanOrEqual(25);
});

test.each([
  ['nothing, when others have nothing to do', 3, 0.1, 0],
  ['as long as it worked, when others are busy', 3, 1, 3],
  ['four milliseconds at most: it may have waited for something instead', 400, 1, 4],
])('work rests %s', (_, workedMs, othersMs, restMs) => {
  expect(restAfter(workedMs, othersMs)).toBe(restMs);
});
