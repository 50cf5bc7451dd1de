import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { CommaSeparated } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { pageQuery } from '../wire/pages.ts';
import { EstatePage } from './events.ts';
import { estateKinds } from './kinds.ts';

/** For services whose projection does not have a group yet. */
export const lookUpGroups = endpoint({
  operation: 'look_up_groups',
  method: 'GET',
  path: '/internal/v2/groups',
  service: 'organization',
  summary: 'Which of these groups an account has',
  access: { credential: 'internal', callers: ['account'] },
  query: z.object({ account_id: id('account'), ids: CommaSeparated(id('group')) }),
  success: {
    status: 200,
    description: 'Those that exist',
    body: z.object({ entries: z.array(z.object({ id: id('group'), name: z.string() })) }),
  },
});

/**
 * A snapshot for a consumer that starts late. The estate may change while its pages are read. Every such change is also
 * published as an event, whether or not a page shows it already, and `aggregate_version` decides which state is newer.
 */
export const estateSnapshot = endpoint({
  operation: 'estate_snapshot',
  method: 'GET',
  path: '/internal/v2/estate-snapshot',
  service: 'organization',
  summary: 'The estate as it is, of one account or of all, parents before children',
  access: { credential: 'internal', callers: ['account', 'campaign', 'device', 'events', 'utilities'] },
  query: z.object({
    cursor: pageQuery.cursor,
    limit: z
      .string()
      .regex(/^\d{1,5}$/, 'must be a whole number from 1 to 2000')
      .transform(Number)
      .pipe(z.int().min(1, 'must be at least 1').max(2000, 'must be at most 2000'))
      .default(1000),
    account_id: id('account').optional(),
    kinds: CommaSeparated(z.enum(estateKinds)).optional(),
  }),
  success: {
    status: 200,
    description: 'A page, of one kind or of some; without `kinds` of all',
    body: EstatePage.extend({ next_cursor: z.string().nullable() }),
  },
});

/** For a service that is told of something whose event it may not have yet. */
export const lookUpEstate = endpoint({
  operation: 'look_up_estate',
  method: 'GET',
  path: '/internal/v2/estate',
  service: 'organization',
  summary: 'Which of these things an account has, and where one of its devices is',
  access: { credential: 'internal', callers: ['events'] },
  query: z.object({
    account_id: id('account'),
    ids: CommaSeparated(z.string(), 200).optional().meta({ description: 'Of locations, zones and screens' }),
    device_id: id('device').optional().meta({ description: 'Whose installations and cameras are looked for' }),
  }),
  success: { status: 200, description: 'Those that exist, and no group', body: EstatePage },
});
