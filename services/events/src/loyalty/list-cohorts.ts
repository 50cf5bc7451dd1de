import { listCohorts, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { scopeOf } from '../scope/index.ts';
import { countPeriods, localTimeOf } from '../time/index.ts';
import { findCells } from './cohort.store.ts';
import { cohortsOf } from './cohorts.ts';
import type { Dependencies } from './dependencies.ts';

const mostCohorts = 60;

function refuseMany(count: number): void {
  if (count > mostCohorts)
    throw new Problem(
      'validation-error',
      `query: this would be ${count} cohorts, and at most ${mostCohorts} are given.`,
    );
}

/** The earliest and the latest local day of an instant in these time zones; without any, that of the universal time. */
function todayIn(timezones: readonly string[], now: Date) {
  const zones = timezones.length > 0 ? timezones : ['UTC'];
  const days = zones.map((zone) => localTimeOf(zone)(now.getTime()).date).toSorted();
  return { earliest: days[0] ?? '', latest: days.at(-1) ?? '' };
}

export const listCohortsEndpoint = ({ figures, clock }: Dependencies) =>
  implement(listCohorts, async ({ query, caller }) => {
    const [scope, now, { interval }] = [scopeOf(caller, query), clock.now(), query];
    if (scope.from !== null && scope.to !== null) refuseMany(countPeriods(scope.from, scope.to, interval));
    const { as_of, timezones, cells } = await figures.statement({ caller, about: 'cohorts' }, (tx) =>
      findCells(tx, scope, interval, now),
    );
    const cohorts = cohortsOf(cells, interval, todayIn(timezones, now));
    refuseMany(cohorts.length);
    return { from: scope.from, to: scope.to, as_of: as_of.toISOString(), interval, cohorts };
  });
