import { z } from 'zod';
import { BatchResult } from '../device/batch.ts';
import { endpoint } from '../endpoint.ts';
import { Timestamp } from '../wire/formats.ts';

const service = 'events';
const device = { credential: 'device' } as const;
const description =
  'Each item stands alone. The answer comes after the commit; a batch without it is sent again as it was.';

/** Items are judged one by one, so the envelope takes any of them. */
const Batch = z.object({
  sent_at: Timestamp.meta({ description: 'By the clock of the device' }),
  clock_synced: z.boolean().default(false).meta({ description: 'That clock is known to be right' }),
  items: z.array(z.unknown()).min(1, 'must have at least 1 value').max(500),
});

export const sendVisits = endpoint({
  operation: 'send_visits',
  method: 'POST',
  path: '/v2/device/visits',
  service,
  summary: 'Who was here, and where',
  description,
  access: device,
  body: Batch,
  items_apart: 'items',
  turns: 'batch',
  success: { status: 202, description: 'What has become of the items', body: BatchResult },
});

export const sendPlays = endpoint({
  operation: 'send_plays',
  method: 'POST',
  path: '/v2/device/plays',
  service,
  summary: 'What was played, and what was held back',
  description,
  access: device,
  body: Batch,
  items_apart: 'items',
  turns: 'batch',
  success: { status: 202, description: 'What has become of the items', body: BatchResult },
});
