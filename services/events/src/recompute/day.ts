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

const isoOf = (instant: number) => new Date(instant).toISOString();

/**
 * All facts of a local day of a location, by their tables: of the visits that began on it, of everything they met, and of the
 * plays that began on it. Visits and plays of other days may be among the given ones.
 */
export function factsOf(
  date: string,
  { visits, plays }: { readonly visits: readonly RawVisit[]; readonly plays: readonly RawPlay[] },
  localTime: LocalTime,
) {
  const own = visits.filter(({ start }) => localTime(start).date === date);
  const visitors = new Map(
    own.map(({ event_id, visitor_key, end }) => [event_id, { visitor_key, left_at: isoOf(end) }]),
  );
  /** What the facts of a visit repeat of it. */
  const visitorOf = (visit: string) => ({ event_id: visit, ...visitors.get(visit) });
  const dwells = own.flatMap(({ event_id, zones }) =>
    zones.map(({ zone_id, start, end }) => ({ visit: event_id, zone: zone_id, start, end })),
  );
  const played = plays.map(({ zone_id, screen_id, campaign_id, holdout, ...play }) => ({
    ...{ zone: zone_id, screen: screen_id, campaign: campaign_id, held: holdout, ...play },
  }));
  const { exposures, meetings } = exposuresOf(dwells, played, localTime);
  const begun = played.filter(({ start }) => localTime(start).date === date);

  return {
    visit_facts: own.map(({ event_id, visitor_key, start, end }) => ({
      ...{ event_id, visitor_key, hour: localTime(start).hour },
      ...{ entered_at: isoOf(start), left_at: isoOf(end), dwell_ms: end - start },
    })),
    dwell_facts: dwells.map(({ visit, zone, start, end }) => ({
      ...{ event_id: visit, visitor_key: visitors.get(visit)?.visitor_key, zone_id: zone },
      ...{ entered_at: isoOf(start), dwell_ms: end - start },
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
    play_hours: playHoursOf(begun, localTime).map(({ campaign, screen, hour, version, ...counts }) => ({
      ...{ hour, campaign_id: campaign, screen_id: screen, version },
      ...{ plays: counts.plays, completed_plays: counts.completedPlays },
      ...{ play_ms: counts.playMs, held_plays: counts.heldPlays },
    })),
  };
}
export type Facts = ReturnType<typeof factsOf>;
