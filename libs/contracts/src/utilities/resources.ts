import { z } from 'zod';
import { weekdays } from '../organization/opening-hours.ts';
import { VenueType } from '../organization/venue-types.ts';
import { Count, Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import * as examples from './examples.ts';

/** What every answer says about where it comes from. */
const told = {
  source: z.string().meta({ description: 'Who says so', example: 'geonames' }),
  attribution: z.string().nullable().meta({ description: 'A text that is to be shown with the answer' }),
  stale: z.boolean().meta({ description: 'Whether it is an older answer, because the source fails' }),
  retrieved_at: Timestamp.meta({ description: 'When the source said so' }),
};

const latitude = z.number().min(-90).max(90).meta({ description: 'Degrees, WGS 84' });
const longitude = z.number().min(-180).max(180).meta({ description: 'Degrees, WGS 84' });

const placeFields = {
  name: z.string(),
  admin1: z.string().nullable().meta({ description: 'The region, state or canton' }),
  country: z.string().length(2).nullable().meta({ description: 'ISO 3166-1 alpha-2' }),
  latitude,
  longitude,
};

export const precisions = ['address', 'street', 'place', 'region'] as const;
const precision = z.enum(precisions).meta({ description: 'What the coordinates are those of' });

export const Geocoding = z
  .object({
    entries: z
      .array(
        z.object({
          ...placeFields,
          precision,
          population: Count.nullable(),
          timezone: z.string().nullable().meta({ description: 'IANA time zone name' }),
        }),
      )
      .meta({ description: 'Best first' }),
    ...told,
  })
  .meta({ id: 'Geocoding', example: examples.geocoding });

export const ReverseGeocoding = z
  .object({
    place: z
      .object({ ...placeFields, distance_m: z.number().min(0).meta({ description: 'Metres' }), precision })
      .nullable()
      .meta({ description: 'null: nothing is known to be near' }),
    ...told,
  })
  .meta({ id: 'ReverseGeocoding', example: examples.reverseGeocoding });

const timezone = z.string().meta({ description: 'IANA time zone name', example: 'Europe/Zurich' });
const utc_offset_minutes = z.int().meta({ description: 'Minutes that local time is ahead of UTC', example: 60 });

export const ZoneOfPoint = z
  .object({
    timezone,
    alternatives: z.array(z.string()).meta({ description: 'Other zones of a disputed area' }),
    utc_offset_minutes,
    ...told,
  })
  .meta({ id: 'ZoneOfPoint', example: examples.zoneOfPoint });

const position = z.array(z.number()).length(2);

export const travelModes = ['walk', 'bike', 'drive'] as const;

export const Coverage = z
  .object({
    cells: z.array(z.string()).meta({ description: 'H3 indexes, sorted' }),
    resolution: z.int().min(5).max(11).meta({ description: 'Of the cells' }),
    area_m2: z.number().min(0).meta({ description: 'The area of the cells in square metres' }),
    geometry: z
      .object({ type: z.literal('MultiPolygon'), coordinates: z.array(z.array(z.array(position))) })
      .meta({ description: 'The outline of the cells (GeoJSON, RFC 7946), cut at the 180th meridian' }),
    method: z.enum(['radius', 'travel_estimate', 'travel']).meta({
      description: '`travel_estimate`: a circle, by the minutes and the usual speed; `travel`: by roads and paths',
    }),
    ...told,
  })
  .meta({ id: 'Coverage', example: examples.coverage });

export const conditions = [
  'clear',
  'partly_cloudy',
  'overcast',
  'fog',
  'drizzle',
  'rain',
  'snow',
  'thunderstorm',
] as const;

const weather = z
  .object({
    kind: z.enum(['observation', 'analysis', 'forecast']),
    valid_at: Timestamp,
    temperature_c: z.number().nullable(),
    precipitation_mm: z.number().min(0).nullable(),
    wind_speed_mps: z.number().min(0).nullable(),
    cloud_cover_percent: z.number().min(0).max(100).nullable(),
    condition: z.enum(conditions).nullable(),
  })
  .nullable()
  .meta({ description: 'null: nobody knows; a value that the source lacks is null too' });

export const Weather = z.object({ weather, ...told }).meta({ id: 'Weather', example: examples.weather });

const parts = ['location', 'timezone', 'holiday', 'daylight', 'weather'] as const;

export const Context = z
  .object({
    timezone: timezone.nullable(),
    local_date: z.string().nullable().meta({ description: 'YYYY-MM-DD', example: '2026-03-01' }),
    local_time: z.string().nullable().meta({ description: 'HH:MM:SS', example: '10:30:00' }),
    utc_offset_minutes: utc_offset_minutes.nullable(),
    weekday: z.enum(weekdays).nullable(),
    daypart: z
      .enum(['night', 'morning', 'midday', 'afternoon', 'evening', 'late'])
      .nullable()
      .meta({ description: 'From 0, 6, 10, 14, 18 and 22 o’clock, local' }),
    holiday: z
      .object({ name: z.string(), type: z.enum(['public', 'bank', 'school', 'optional', 'observance']) })
      .nullable(),
    daylight: z.boolean().nullable().meta({ description: 'Whether the sun is up' }),
    is_open: z.boolean().nullable().meta({ description: 'By its opening hours; null without a location or its hours' }),
    venue_type: VenueType.nullable(),
    location_id: id('location').nullable(),
    weather,
    sources: z
      .array(
        z.object({
          part: z.enum(parts),
          source: z.string(),
          attribution: z.string().nullable(),
          stale: z.boolean().meta({ description: 'Whether it is older, or null because its source fails' }),
        }),
      )
      .meta({ description: 'Where each part comes from' }),
    ...told,
  })
  .meta({ id: 'Context', example: examples.context });
