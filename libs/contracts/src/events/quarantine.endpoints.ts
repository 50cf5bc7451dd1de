import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { Text } from '../wire/formats.ts';
import { Page, pageQuery } from '../wire/pages.ts';
import { QuarantinedItem } from './quarantine.resources.ts';

export const listQuarantine = endpoint({
  operation: 'list_quarantine',
  method: 'GET',
  path: '/v2/events/quarantine',
  service: 'events',
  summary: 'Items whose times cannot be right',
  description: 'Of the last 30 days, for callers who are not narrowed to groups.',
  access: { credential: 'any' },
  query: z.object({
    ...pageQuery,
    device_id: Text(200).min(1).optional().meta({ description: 'Only those that this device has sent' }),
  }),
  turns: 'page',
  success: { status: 200, description: 'A page of items, newest first', body: Page(QuarantinedItem) },
});
