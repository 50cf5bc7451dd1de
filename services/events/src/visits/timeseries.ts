import { getVisitsTimeseries } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { scopeOf } from '../scope/index.ts';
import { refuseLongSeries, seriesOf } from '../series/index.ts';
import type { Dependencies } from './dependencies.ts';
import { type BucketRow, findBuckets } from './timeseries.store.ts';

const view = (row: BucketRow | undefined) => ({
  visits: row?.visits ?? 0,
  visitors: row?.visitors ?? 0,
  mean_dwell_ms: row?.mean_dwell_ms ?? null,
  median_dwell_ms: row?.median_dwell_ms ?? null,
});

export const getVisitsTimeseriesEndpoint = ({ figures, clock }: Dependencies) =>
  implement(getVisitsTimeseries, async ({ query, caller }) => {
    const { interval } = query;
    const scope = scopeOf(caller, query);
    refuseLongSeries(scope, interval);
    const { as_of, buckets } = await figures.statement({ caller, about: 'visits by time' }, (tx) =>
      findBuckets(tx, scope, interval, clock.now()),
    );
    return {
      ...{ from: scope.from, to: scope.to, as_of: as_of.toISOString(), interval },
      buckets: seriesOf(buckets, scope, interval, view),
    };
  });
