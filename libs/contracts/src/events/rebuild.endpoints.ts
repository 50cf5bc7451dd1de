import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { CalendarDate, Count } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { refinedBy } from '../wire/refined-by.ts';
import { inOrder } from './queries.ts';

export const rebuildRollups = endpoint({
  operation: 'rebuild_rollups',
  method: 'POST',
  path: '/internal/v2/rollups/rebuild',
  service: 'events',
  summary: 'Make the figures of days anew, from what devices have sent',
  description: 'It is done in the background, after what is new. No figure changes, unless one was wrong.',
  access: { credential: 'internal', callers: ['events'] },
  body: z
    .object({
      account_id: id('account'),
      location_ids: z.array(id('location')).optional().meta({ description: 'Only these locations' }),
      from: CalendarDate.optional().meta({ description: 'The first day, local to each location' }),
      to: CalendarDate.optional().meta({ description: 'The last day' }),
    })
    .check(refinedBy(inOrder)),
  success: {
    status: 202,
    description: 'How many days of locations have something to count, and will be',
    body: z.object({ location_days: Count }),
  },
});
