import { nextPeriod, type Period, periodOf } from '../time/index.ts';

/** Visitors of a cohort with a visit in the `offset`-th period after it; offset 0 has all of them. */
export interface CohortCell {
  /** The first day of the period. */
  readonly date: string;
  readonly offset: number;
  readonly visitors: number;
}

export interface Cohort {
  readonly date: string;
  readonly visitors: number;
  readonly periods: {
    readonly offset: number;
    readonly visitors: number;
    readonly rate: number;
    readonly complete: boolean;
  }[];
}

/**
 * Cohorts with every period after them up to now. `today`: the local days of now in the scope, the earliest and the latest;
 * a period lasts as long as it does anywhere.
 */
export function cohortsOf(
  cells: readonly CohortCell[],
  period: Exclude<Period, 'day'>,
  today: { readonly earliest: string; readonly latest: string },
): Cohort[] {
  const [lasting, newest] = [periodOf(today.earliest, period), periodOf(today.latest, period)];
  const counts = new Map(cells.map(({ date, offset, visitors }) => [`${date} ${offset}`, visitors]));
  const founded = cells.filter(({ offset, visitors }) => offset === 0 && visitors > 0);
  return founded
    .toSorted((a, b) => (a.date < b.date ? -1 : 1))
    .map(({ date, visitors: all }) => {
      const periods: Cohort['periods'][number][] = [];
      for (let [offset, first] = [1, nextPeriod(date, period)]; first <= newest; first = nextPeriod(first, period)) {
        const visitors = counts.get(`${date} ${offset}`) ?? 0;
        periods.push({ offset, visitors, rate: (100 * visitors) / all, complete: first < lasting });
        offset++;
      }
      return { date, visitors: all, periods };
    });
}
