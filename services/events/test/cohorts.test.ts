import { expect, test } from '@jest/globals';
import { cohortsOf } from '../src/loyalty/cohorts.ts';

test('a cohort has every period after its own, until the one that lasts anywhere', () => {
  const cells = [
    { date: '2026-03-01', offset: 0, visitors: 3 },
    { date: '2026-01-01', offset: 0, visitors: 8 },
    { date: '2026-01-01', offset: 2, visitors: 2 },
    { date: '2026-02-01', offset: 0, visitors: 0 },
  ];
  // It is April in the east already.
  const today = { earliest: '2026-03-31', latest: '2026-04-01' };
  expect(cohortsOf(cells, 'month', today)).toEqual([
    {
      date: '2026-01-01',
      visitors: 8,
      periods: [
        { offset: 1, visitors: 0, rate: 0, complete: true },
        { offset: 2, visitors: 2, rate: 25, complete: false },
        { offset: 3, visitors: 0, rate: 0, complete: false },
      ],
    },
    { date: '2026-03-01', visitors: 3, periods: [{ offset: 1, visitors: 0, rate: 0, complete: false }] },
  ]);
});

test('weeks begin on Monday, and this week’s cohort has no period yet', () => {
  const today = { earliest: '2026-03-08', latest: '2026-03-08' };
  const cells = ['2026-02-23', '2026-03-02'].map((date) => ({ date, offset: 0, visitors: 1 }));
  expect(cohortsOf(cells, 'week', today)).toEqual([
    { date: '2026-02-23', visitors: 1, periods: [{ offset: 1, visitors: 0, rate: 0, complete: false }] },
    { date: '2026-03-02', visitors: 1, periods: [] },
  ]);
});
