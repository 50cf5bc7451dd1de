import { exposuresOf, playHoursOf } from '../exposures/index.ts';
import type { LocalTime } from '../time/index.ts';

/** A visit that counts. Times are in milliseconds since the epoch. */
export interface RawVisit {
  readonly event_id: string;
  readonly visitor_key: string;
  readonly start: number;
  readonly end: number;
  readonly zones: readonly { readonly zone_id: string; readonly start: number; readonly end: number }[];
}

export interface RawPlay {
  readonly zone_id: string | null;
  readonly screen_id: string;
  readonly campaign_id: string;
  readonly version: number;
  readonly completed: boolean;
  readonly holdout: boolean;
  readonly start: number;
  readonly end: number;
}

interface Raw {
  /** Those whose facts are made. */
  readonly visits: readonly RawVisit[];
  /** Everything that they may have met. */
  readonly plays: readonly RawPlay[];
  /** Whether a play is counted by the hour. */
  readonly isCounted: (play: { readonly start: number }) => boolean;
}

const isoOf = (instant: number) => new Date(instant).toISOString();

/** All facts of visits and plays of a location, by their tables. A fact is of the local day on which its visit or play began. */
export function factsOf({ visits, plays, isCounted }: Raw, localTime: LocalTime) {
  const visitors = new Map(
    visits.map(({ event_id, visitor_key, start, end }) => [
      event_id,
      { date: localTime(start).date, visitor_key, left_at: isoOf(end) },
    ]),
  );
  /** What the facts of a visit repeat of it. */
  const visitorOf = (visit: string) => ({ event_id: visit, ...visitors.get(visit) });
  const dwells = visits.flatMap(({ event_id, zones }) =>
    zones.map(({ zone_id, start, end }) => ({ visit: event_id, zone: zone_id, start, end })),
  );
  const played = plays.map(({ zone_id, screen_id, campaign_id, holdout, ...play }) => ({
    ...{ zone: zone_id, screen: screen_id, campaign: campaign_id, held: holdout, ...play },
  }));
  const { exposures, meetings } = exposuresOf(dwells, played, localTime);

  return {
    visit_facts: visits.map(({ event_id, visitor_key, start, end }) => ({
      ...{ event_id, visitor_key, date: localTime(start).date, hour: localTime(start).hour },
      ...{ entered_at: isoOf(start), left_at: isoOf(end), dwell_ms: end - start },
    })),
    dwell_facts: dwells.map(({ visit, zone, start, end }) => ({
      ...{ event_id: visit, date: visitors.get(visit)?.date, visitor_key: visitors.get(visit)?.visitor_key },
      ...{ zone_id: zone, entered_at: isoOf(start), dwell_ms: end - start },
    })),
    exposure_facts: exposures.map(({ visit, campaign, first, date: first_date, hour, exposureMs }) => ({
      ...visitorOf(visit),
      campaign_id: campaign,
      ...{ first_at: isoOf(first), first_date, first_hour: hour, exposure_ms: exposureMs },
    })),
    meeting_facts: meetings.map(({ visit, campaign, held, first, date: met_date, hour, pairs }) => ({
      ...visitorOf(visit),
      campaign_id: campaign,
      ...{ held, met_date, met_hour: hour, first_at: isoOf(first), pairs },
    })),
    play_hours: playHoursOf(played.filter(isCounted), localTime).map(
      ({ campaign, screen, date, hour, version, ...counts }) => ({
        ...{ date, hour, campaign_id: campaign, screen_id: screen, version },
        ...{ plays: counts.plays, completed_plays: counts.completedPlays },
        ...{ play_ms: counts.playMs, held_plays: counts.heldPlays },
      }),
    ),
  };
}
export type Facts = ReturnType<typeof factsOf>;
