import {
  type Client,
  createBlacklistEntry,
  deleteBlacklistEntry,
  type Endpoint,
  getBlacklistEntry,
  getCampaignLift,
  getCampaignPerformance,
  getCampaignTimeseries,
  getVisitsDwell,
  getVisitsTimeseries,
  listBlacklist,
  listCohorts,
  listPlays,
  listQuarantine,
  summarizeLoyalty,
  summarizeVisits,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { ResponsesByStatus } from './every-status-billing.ts';
import { calling } from './every-status-calls.ts';

interface People {
  readonly nobody: () => Client;
  readonly owner: () => Client;
  /** Has no access to this service. */
  readonly outsider: () => Client;
}

const backwards = { from: '2026-03-02', to: '2026-03-01' };

/** Each figure and list, with a query that it refuses. */
const reads: readonly (readonly [Endpoint, object])[] = [
  [summarizeVisits, backwards],
  [getVisitsTimeseries, { interval: 'hour' }],
  [getVisitsDwell, { limit: 0 }],
  [listPlays, { holdout: 'perhaps' }],
  [listQuarantine, { limit: 201 }],
  [summarizeLoyalty, backwards],
  [listCohorts, backwards],
  [listBlacklist, { limit: 0 }],
];
const ofCampaigns: readonly (readonly [Endpoint, object])[] = [
  [getCampaignPerformance, { window: '31d' }],
  [getCampaignTimeseries, { interval: 'hour' }],
  [getCampaignLift, { window: '59s' }],
];

const body = { visitor_key: 'v_8fJ2kPq0sXw3LmZt', reason: 'staff' } as const;

/** For what people read of visits and plays, and for the blacklist. */
export function ofEvents({ nobody, owner, outsider }: People): ResponsesByStatus {
  const refused = (endpoint: Endpoint, input: object) => ({
    401: calling(endpoint)(nobody, input),
    403: calling(endpoint)(outsider, input),
  });
  const unseen = (endpoint: Endpoint, params: object) => ({
    ...refused(endpoint, { params }),
    404: calling(endpoint)(owner, { params }),
  });
  const read = ([endpoint, query]: (typeof reads)[number]) => {
    return [endpoint.operation, { 400: calling(endpoint)(owner, { query }), ...refused(endpoint, {}) }];
  };
  const ofCampaign = ([endpoint, query]: (typeof reads)[number]) => {
    const params = { id: newId('campaign') };
    return [endpoint.operation, { 400: calling(endpoint)(owner, { params, query }), ...unseen(endpoint, params) }];
  };
  const create = calling(createBlacklistEntry);
  return {
    ...Object.fromEntries([...reads.map(read), ...ofCampaigns.map(ofCampaign)]),
    create_blacklist_entry: {
      400: create(owner, { body: {} }),
      ...refused(createBlacklistEntry, { body }),
      409: async () => {
        await create(owner, { body })();
        return create(owner, { body })();
      },
      422: create(owner, { body: { ...body, location_id: newId('location') } }),
    },
    get_blacklist_entry: unseen(getBlacklistEntry, { id: newId('blacklist_entry') }),
    delete_blacklist_entry: unseen(deleteBlacklistEntry, { id: newId('blacklist_entry') }),
  };
}
