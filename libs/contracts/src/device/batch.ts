import { z } from 'zod';
import { Count, Timestamp } from '../wire/formats.ts';

const Remark = z.object({
  index: Count.meta({ description: 'Its place in the batch, from 0' }),
  detail: z.string().meta({ example: 'left_at: must be later than entered_at.' }),
});

/** What has become of the items of a batch, each of which stands alone. A device drops a batch that has this answer. */
export const BatchResult = z
  .object({
    accepted: Count.meta({ description: 'With those in quarantine' }),
    duplicates: Count.meta({ description: 'Known already, by their event_id' }),
    rejected: z.array(Remark).meta({ description: 'What no later attempt can make right' }),
    quarantined: z.array(Remark).meta({ description: 'Kept, but in no figure' }),
    received_at: Timestamp,
    clock_offset_ms: z.int().meta({ description: 'What was added to the times of the batch' }),
  })
  .meta({ id: 'BatchResult' });
