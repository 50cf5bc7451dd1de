import type { Principal } from '@attribution/auth';
import { contextOf, type Input, Problem, weekdays } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { Logger } from 'pino';
import type { Point } from '../earth.ts';
import { findLocation, type KnownLocation } from '../locations/index.ts';
import type { UtilitiesDatabase } from '../store.ts';
import type { Threads } from '../threads.ts';
import { attributions } from '../told.ts';
import { isInRange, type WeatherSource } from '../weather/index.ts';
import { localTime, offsetMinutes, zonesOf } from '../zones/index.ts';
import { daypartOf } from './daypart.ts';
import { findHoliday } from './holiday.ts';
import { isOpenAt } from './opening.ts';
import { type Part, partOf, tellOf } from './parts.ts';
import { isDaylight } from './sun.ts';

interface ContextDependencies {
  readonly database: UtilitiesDatabase;
  readonly threads: Threads;
  readonly weather: WeatherSource;
  readonly clock: Clock;
  readonly logger: Logger;
}

export const contextEndpoint = (dependencies: ContextDependencies) =>
  implement(contextOf, async ({ query, caller }) => {
    const { threads, weather, clock } = dependencies;
    const { location, point } = await subjectOf(dependencies, query, caller);
    const now = clock.now();
    const at = query.at === undefined ? now : new Date(query.at);
    const asking = { logger: dependencies.logger, now };

    const timezone = await zonePart(dependencies, asking, location, point);
    const local = timezone.value === null ? null : localParts(at, timezone.value);
    const holiday = partOf(
      { part: 'holiday', source: 'date-holidays', attribution: attributions.dateHolidays },
      asking,
      async () => {
        if (local === null) return { value: null };
        return { value: await findHoliday(threads, { date: local.local_date, country: query.country, point }) };
      },
    );
    const sky = partOf({ part: 'weather', source: weather.name, attribution: null }, asking, async () => {
      if (!point || !isInRange(at, now)) return { value: null };
      const { answer, ...told } = await weather.at(point, at);
      return { value: answer, ...told };
    });
    const daylight = partOf({ part: 'daylight', source: 'formula', attribution: null }, asking, async () => ({
      value: point && isDaylight(point, at),
    }));
    const [festive, light, clouds] = await Promise.all([holiday, daylight, sky]);
    const parts = [...locationParts(location, now), timezone, withCountry(festive, point), light, clouds];
    const hours = location?.opening_hours ?? null;
    return {
      timezone: timezone.value,
      ...(local?.view ?? unknownTime),
      utc_offset_minutes: timezone.value === null ? null : offsetMinutes(at, timezone.value),
      holiday: festive.value,
      daylight: light.value,
      is_open: hours && local && isOpenAt(hours, local.time),
      ...{ venue_type: location?.venue_type ?? null, location_id: location?.id ?? null },
      weather: clouds.value,
      ...tellOf(parts),
    };
  });

interface Subject {
  readonly location: KnownLocation | undefined;
  readonly point: Point | null;
}

/** A location that the caller can see, or a point. */
async function subjectOf(
  { database }: Pick<ContextDependencies, 'database'>,
  { location_id, latitude, longitude }: Input<typeof contextOf>['query'],
  caller: Principal,
): Promise<Subject> {
  const pointOf = (up: number | null | undefined, along: number | null | undefined): Point | null =>
    up == null || along == null ? null : { latitude: up, longitude: along };
  if (location_id === undefined) return { location: undefined, point: pointOf(latitude, longitude) };
  const location = await findLocation(database.sql, caller, location_id);
  if (!location) throw Problem.notFound();
  return { location, point: pointOf(location.latitude, location.longitude) };
}

const zonePart = (
  { threads }: Pick<ContextDependencies, 'threads'>,
  asking: { readonly logger: Logger; readonly now: Date },
  location: KnownLocation | undefined,
  point: Point | null,
): Promise<Part<string>> =>
  location
    ? partOf({ part: 'timezone', source: 'organization', attribution: null }, asking, async () => ({
        value: location.timezone,
      }))
    : partOf({ part: 'timezone', source: 'geo-tz', attribution: attributions.openStreetMap }, asking, async () => ({
        value: point && (await zonesOf(threads, point)).timezone,
      }));

function locationParts(location: KnownLocation | undefined, now: Date): Part<unknown>[] {
  if (!location) return [];
  const source = { part: 'location' as const, source: 'organization', attribution: null, stale: false };
  return [{ value: location.id, sources: [source], retrieved_at: now.toISOString() }];
}

/** The country and region of a point are those of a place that GeoNames knows. */
function withCountry<T>(part: Part<T>, point: Point | null): Part<T> {
  if (!point) return part;
  const { stale = false } = part.sources[0] ?? {};
  const source = { part: 'holiday' as const, source: 'geonames', attribution: attributions.geonames, stale };
  return { ...part, sources: [...part.sources, source] };
}

const unknownTime = { local_date: null, local_time: null, weekday: null, daypart: null };

function localParts(at: Date, timezone: string) {
  const local = localTime(at, timezone);
  const local_date = local.toPlainDate().toString();
  const day = local.dayOfWeek - 1;
  return {
    local_date,
    time: { day, minute: local.hour * 60 + local.minute },
    view: {
      local_date,
      local_time: local.toPlainTime().toString({ smallestUnit: 'second' }),
      weekday: weekdays[day] ?? 'mon',
      daypart: daypartOf(local.hour),
    },
  };
}
