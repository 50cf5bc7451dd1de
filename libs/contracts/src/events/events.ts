import { z } from 'zod';
import { event } from '../event.ts';
import { topic } from '../topic.ts';
import { CalendarDate, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';

export const eventsVisits = topic({ name: 'events.visits', owner: 'events', partitions: 12 });
export const eventsPlays = topic({ name: 'events.plays', owner: 'events', partitions: 12 });
export const eventsFigures = topic({ name: 'events.figures', owner: 'events', partitions: 6 });

const byLocation = { version: 1, key: (data: { location_id: string }) => data.location_id };

/** Of one location, by the clock of the platform. What is in quarantine is not told. */
const accepted = {
  account_id: id('account'),
  location_id: id('location'),
  device_id: id('device'),
  received_at: Timestamp,
  clock_offset_ms: z.int(),
};
const stay = { entered_at: Timestamp, left_at: Timestamp };

export const visitsAccepted = event({
  type: 'visits.accepted',
  topic: eventsVisits,
  ...byLocation,
  data: z.object({
    ...accepted,
    visits: z.array(
      z.object({
        event_id: z.string(),
        visitor_key: z.string(),
        ...stay,
        zones: z.array(z.object({ zone_id: id('zone'), ...stay })),
      }),
    ),
  }),
});

export const playsAccepted = event({
  type: 'plays.accepted',
  topic: eventsPlays,
  ...byLocation,
  data: z.object({
    ...accepted,
    plays: z.array(
      z.object({
        event_id: z.string(),
        screen_id: id('screen'),
        zone_id: id('zone').nullable(),
        campaign_id: id('campaign'),
        campaign_ad_id: id('campaign_ad'),
        version: z.int().min(1),
        started_at: Timestamp,
        ended_at: Timestamp,
        completed: z.boolean(),
        holdout: z.boolean(),
      }),
    ),
  }),
});

/** The figures of these local days are up to date with what had been accepted before. */
export const eventsRecomputed = event({
  type: 'events.recomputed',
  topic: eventsFigures,
  ...byLocation,
  data: z.object({ account_id: id('account'), location_id: id('location'), dates: z.array(CalendarDate) }),
});
