import { setting } from '@attribution/runtime';
import { z } from 'zod';

/** Items come up to 90 days late, and what a day's figures are made of has to be there when they are made anew. */
const leastRetentionDays = 100;

/** The settings of events, in addition to those that every service has. */
export const eventsSettings = z.object({
  EVENTS_RETENTION_DAYS: setting.count.pipe(z.int().min(leastRetentionDays)).default(400).meta({
    description:
      'How many days visits and plays are kept, 100 at least; they leave by whole months. Figures of days before stay as they are',
  }),
});

export type EventsConfig = z.output<typeof eventsSettings>;
