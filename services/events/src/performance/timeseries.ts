import { getCampaignTimeseries } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { requireCampaign } from '../campaigns/index.ts';
import { scopeOf } from '../scope/index.ts';
import { refuseLongSeries, seriesOf } from '../series/index.ts';
import type { Dependencies } from './dependencies.ts';
import { type BucketRow, findBuckets } from './timeseries.store.ts';

const view = (row: BucketRow | undefined) => ({
  plays: row?.plays ?? 0,
  play_ms: row?.play_ms ?? 0,
  opportunities_to_see: row?.opportunities_to_see ?? 0,
  exposed_visits: row?.exposed_visits ?? 0,
  exposed_visitors: row?.exposed_visitors ?? 0,
});

export const getTimeseriesEndpoint = ({ figures, clock, askSight }: Dependencies) =>
  implement(getCampaignTimeseries, async ({ params, query, caller }) => {
    const { interval } = query;
    const scope = scopeOf(caller, query);
    refuseLongSeries(scope, interval);
    await requireCampaign(askSight, caller, params.id);
    const about = { campaignId: params.id, interval, now: clock.now() };
    const { as_of, buckets } = await figures.statement({ caller, about: `timeseries ${params.id}` }, (tx) =>
      findBuckets(tx, scope, about),
    );
    return {
      ...{ from: scope.from, to: scope.to, as_of: as_of.toISOString(), interval },
      buckets: seriesOf(buckets, scope, interval, view),
    };
  });
