import { z } from 'zod';
import { JsonObject } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { ItemId } from './items.resources.ts';
import { received } from './queries.ts';

export const QuarantinedItem = z
  .object({
    kind: z.enum(['visit', 'play']),
    event_id: ItemId,
    device_id: id('device'),
    reason: z.enum(['future', 'too_long', 'too_old']).meta({ description: 'The first that applies' }),
    ...received,
    item: JsonObject().meta({ description: 'As it was sent' }),
  })
  .meta({ id: 'QuarantinedItem', description: 'What a device sent, and no figure counts' });
