/** Figures of campaigns as their definitions say, item by item, without any table between. */

/** Times are in milliseconds since the epoch. */
interface Interval {
  readonly start: number;
  readonly end: number;
}

export interface RawVisit extends Interval {
  readonly event_id: string;
  readonly visitor_key: string;
  readonly location_id: string;
  readonly zones: readonly (Interval & { readonly zone_id: string })[];
}

export interface RawPlay extends Interval {
  readonly location_id: string;
  readonly zone_id: string | null;
  readonly screen_id: string;
  readonly campaign_id: string;
  readonly version: number;
  readonly holdout: boolean;
  readonly completed: boolean;
}

export interface Items {
  readonly visits: readonly RawVisit[];
  readonly plays: readonly RawPlay[];
  /** Time zones of locations. */
  readonly clocks: ReadonlyMap<string, string>;
  /** Percents of versions. */
  readonly holdouts: ReadonlyMap<number, number>;
}

export interface Question {
  readonly campaign: string;
  readonly locations: readonly string[];
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly windowMs: number;
  readonly targets?: readonly string[] | undefined;
  readonly asOf: number;
}

export function recountOf({ visits, plays, clocks, holdouts }: Items, question: Question) {
  const { campaign, locations, from = '', to = '9', windowMs, targets, asOf } = question;
  const local = (location: string, instant: number) => localHourOf(instant, clocks.get(location) ?? '');
  const inRange = ({ location_id }: { readonly location_id: string }, instant: number) => {
    const { date } = local(location_id, instant);
    return from <= date && date <= to;
  };
  const ownVisits = visits.filter(({ location_id }) => locations.includes(location_id));
  const ownPlays = plays.filter((play) => play.campaign_id === campaign && locations.includes(play.location_id));
  const played = ownPlays.filter((play) => inRange(play, play.start));
  const real = played.filter(({ holdout }) => !holdout);

  const overlaps = (visit: RawVisit, play: RawPlay): Interval[] =>
    visit.zones
      .filter(({ zone_id }) => zone_id === play.zone_id)
      .map((stay) => ({ start: Math.max(stay.start, play.start), end: Math.min(stay.end, play.end) }))
      .filter(({ start, end }) => start < end);
  const playsAt = Map.groupBy(ownPlays, ({ location_id }) => location_id);
  const met = ownVisits.flatMap((visit) =>
    (playsAt.get(visit.location_id) ?? [])
      .filter((play) => play.start < visit.end && visit.start < play.end)
      .map((play) => ({ visit, play, times: overlaps(visit, play) })),
  );
  const meetings = met.flatMap(({ visit, play, times }) => times.map((time) => ({ visit, play, ...time })));

  const pairs = met
    .filter(({ play, times }) => !play.holdout && times.length > 0)
    .map(({ visit, times }) => ({ visit, at: Math.min(...times.map(({ start }) => start)) }));
  const seen = pairs.filter(({ visit, at }) => inRange(visit, at));
  const exposures = [
    ...Map.groupBy(
      meetings.filter(({ play }) => !play.holdout),
      ({ visit }) => visit,
    ),
  ]
    .map(([visit, own]) => ({ visit, at: Math.min(...own.map(({ start }) => start)), ms: minutesOf(own) * 60_000 }))
    .filter(({ visit, at }) => inRange(visit, at));

  const visitsBy = Map.groupBy(visits, ({ visitor_key }) => visitor_key);
  /** Undefined while the window lasts. */
  function outcome(visit: RawVisit, at: number): boolean | undefined {
    const since = targets ? at : visit.end;
    if (since + windowMs > asOf) return undefined;
    const within = (instant: number) => instant >= since && instant < since + windowMs;
    const same = (visitsBy.get(visit.visitor_key) ?? []).filter((v) => v.location_id === visit.location_id);
    if (!targets) return same.some((other) => other.event_id !== visit.event_id && within(other.start));
    return same.some(({ zones }) => zones.some((stay) => targets.includes(stay.zone_id) && within(stay.start)));
  }

  function performance() {
    const outcomes = exposures.map(({ visit, at }) => outcome(visit, at));
    const ripe = outcomes.filter((one) => one !== undefined);
    const visitors = new Set(exposures.map(({ visit }) => visit.visitor_key)).size;
    const converted = ripe.filter(Boolean).length;
    return {
      plays: real.length,
      completed_plays: real.filter(({ completed }) => completed).length,
      play_ms: sum(real.map(({ start, end }) => end - start)),
      screens: new Set(real.map(({ screen_id }) => screen_id)).size,
      locations: new Set(real.map(({ location_id }) => location_id)).size,
      opportunities_to_see: seen.length,
      exposed_visits: exposures.length,
      exposed_visitors: visitors,
      frequency: visitors === 0 ? null : seen.length / visitors,
      mean_exposure_ms:
        exposures.length === 0 ? null : Math.floor(sum(exposures.map(({ ms }) => ms)) / exposures.length + 0.5),
      conversion: {
        ...{ ripe_visits: ripe.length, converted_visits: converted, pending_visits: outcomes.length - ripe.length },
        rate: ripe.length === 0 ? null : (100 * converted) / ripe.length,
      },
    };
  }

  /** By local days, or hours (`2026-10-25 2`). */
  function series(bucket: (date: string, hour: number) => string) {
    const keyOf = ({ location_id }: { readonly location_id: string }, instant: number) => {
      const { date, hour } = local(location_id, instant);
      return bucket(date, hour);
    };
    const playsOf = Map.groupBy(real, (play) => keyOf(play, play.start));
    const seenOf = Map.groupBy(seen, ({ visit, at }) => keyOf(visit, at));
    const exposuresOf = Map.groupBy(exposures, ({ visit, at }) => keyOf(visit, at));
    return new Map(
      [...new Set([...playsOf.keys(), ...seenOf.keys(), ...exposuresOf.keys()])].map((key) => {
        const [began, exposed] = [playsOf.get(key) ?? [], exposuresOf.get(key) ?? []];
        return [
          key,
          {
            plays: began.length,
            play_ms: sum(began.map(({ start, end }) => end - start)),
            opportunities_to_see: (seenOf.get(key) ?? []).length,
            exposed_visits: exposed.length,
            exposed_visitors: new Set(exposed.map(({ visit }) => visit.visitor_key)).size,
          },
        ];
      }),
    );
  }

  /** The visitors of a lift, each with the arm, the cluster and what became of the visit that decides. */
  function lift() {
    const design = played.some(({ holdout }) => holdout) ? ('holdout' as const) : ('observational' as const);
    const inTime = meetings.filter(({ visit, start }) => inRange(visit, start));
    const units = [...Map.groupBy(inTime, ({ visit }) => visit.visitor_key).values()].flatMap((own) => {
      const at = Math.min(...own.map(({ start }) => start));
      const atOnce = own.filter(({ start }) => start === at);
      const [visit] = atOnce.map((one) => one.visit).toSorted(byId) as [RawVisit];
      const exposed = (design === 'holdout' ? atOnce : own).some(({ play }) => !play.holdout);
      return design === 'holdout' || exposed ? [{ visit, at, exposed }] : [];
    });
    const exposedKeys = new Set(units.filter(({ exposed }) => exposed).map(({ visit }) => visit.visitor_key));
    if (design === 'observational') {
      const open = new Set(real.map(({ location_id }) => location_id));
      const others = ownVisits.filter(
        (visit) => open.has(visit.location_id) && inRange(visit, visit.start) && !exposedKeys.has(visit.visitor_key),
      );
      for (const own of Map.groupBy(others, ({ visitor_key }) => visitor_key).values()) {
        const [visit] = own.toSorted((a, b) => a.start - b.start || byId(a, b)) as [RawVisit];
        units.push({ visit, at: visit.start, exposed: false });
      }
    }
    const judged = units.map((unit) => {
      const { date, hour } = local(unit.visit.location_id, unit.at);
      return {
        ...unit,
        outcome: outcome(unit.visit, unit.at),
        cluster: `${unit.visit.location_id} ${date} ${hour}`,
      };
    });
    const clustersOf = (exposed: boolean) => {
      const ripe = judged.filter((unit) => unit.exposed === exposed && unit.outcome !== undefined);
      return [...Map.groupBy(ripe, ({ cluster }) => cluster).values()].map((all) => ({
        visitors: all.length,
        converted: all.filter((unit) => unit.outcome).length,
      }));
    };
    return {
      design,
      exposed: clustersOf(true),
      control: clustersOf(false),
      pending: judged.filter((unit) => unit.outcome === undefined).length,
      hours: hoursPlayed(),
    };
  }

  function hoursPlayed() {
    const byHour = Map.groupBy(played, ({ location_id, start }) => {
      const { date, hour } = local(location_id, start);
      return `${location_id} ${date} ${hour}`;
    });
    return [...byHour.values()].map((all) => {
      const held = all.filter(({ holdout }) => holdout).length;
      const kind = held === all.length ? ('control' as const) : held === 0 ? ('exposed' as const) : ('mixed' as const);
      const holdoutPercent = holdouts.get(Math.max(...all.map(({ version }) => version))) ?? 0;
      return { kind, holdoutPercent, hours: 1 };
    });
  }

  return { performance, series, lift };
}

const known = new Map<string, { readonly date: string; readonly hour: number }>();

function localHourOf(instant: number, timezone: string) {
  const key = `${timezone} ${instant}`;
  let found = known.get(key);
  if (!found) {
    const time = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timezone);
    found = { date: time.toPlainDate().toString(), hour: time.hour };
    known.set(key, found);
  }
  return found;
}

const byId = (a: RawVisit, b: RawVisit) => (a.event_id < b.event_id ? -1 : 1);
const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

/** The whole minutes that any of the intervals covers. */
function minutesOf(intervals: readonly Interval[]): number {
  const minutes = new Set<number>();
  for (const { start, end } of intervals) for (let at = start; at < end; at += 60_000) minutes.add(at);
  return minutes.size;
}
