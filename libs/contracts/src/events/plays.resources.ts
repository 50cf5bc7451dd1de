import { z } from 'zod';
import { Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { nextCursor } from '../wire/pages.ts';
import { ItemId } from './items.resources.ts';
import { answered, received } from './queries.ts';

export const Play = z
  .object({
    event_id: ItemId,
    device_id: id('device'),
    location_id: id('location'),
    zone_id: id('zone').nullable().meta({ description: 'Where the screen was when the play was received' }),
    screen_id: id('screen'),
    campaign_id: id('campaign'),
    campaign_ad_id: id('campaign_ad'),
    version: z.int().min(1),
    started_at: Timestamp,
    ended_at: Timestamp,
    completed: z.boolean(),
    holdout: z.boolean().meta({ description: 'The campaign was left out of the slot' }),
    ...received,
  })
  .meta({ id: 'Play', description: 'A play, or one that was held back' });

export const Plays = z.object({ ...answered, entries: z.array(Play), next_cursor: nextCursor }).meta({ id: 'Plays' });
