import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { CommaSeparated } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { PublishedVersion } from './events.ts';

/** A snapshot for a consumer that starts late, and the answer to one that is told of an ad that it does not know yet. */
export const listPublishedVersions = endpoint({
  operation: 'list_published_versions',
  method: 'GET',
  path: '/internal/v2/campaign-versions',
  service: 'campaign',
  summary: 'Every version that was ever published, of one account or of all',
  access: { credential: 'internal', callers: ['events'] },
  query: z.object({
    ...pageQuery,
    account_id: id('account').optional(),
    campaign_ad_ids: CommaSeparated(id('campaign_ad'), 200)
      .optional()
      .meta({ description: 'Only the versions of campaigns with one of these ads' }),
  }),
  success: { status: 200, description: 'A page, by campaign and version', body: Page(PublishedVersion) },
});
