import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { pageQuery } from '../wire/pages.ts';
import { refinedBy } from '../wire/refined-by.ts';
import { Plays } from './plays.resources.ts';
import { filterIds, inOrder, scopeQuery } from './queries.ts';

export const listPlays = endpoint({
  operation: 'list_plays',
  method: 'GET',
  path: '/v2/plays',
  service: 'events',
  summary: 'What was played, or held back',
  description: 'By the local day on which they began.',
  access: { credential: 'any' },
  query: z
    .object({
      ...scopeQuery,
      ...pageQuery,
      screen_ids: filterIds('Only on these screens'),
      campaign_ids: filterIds('Only of these campaigns'),
      holdout: z
        .enum(['true', 'false'])
        .default('false')
        .meta({ description: '`true`: the held plays instead of the real ones' }),
    })
    .check(refinedBy(inOrder)),
  success: { status: 200, description: 'A page of plays, newest first', body: Plays },
});
