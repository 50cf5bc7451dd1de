import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { refinedBy } from '../wire/refined-by.ts';
import { At, CountryCode, numberFrom, placeOrPoint, point, radiusOrTravel, SearchText } from './queries.ts';
import { Context, Coverage, Geocoding, ReverseGeocoding, travelModes, Weather, ZoneOfPoint } from './resources.ts';

const service = 'utilities';
const access = { credential: 'any' } as const;
const limit = { least: 1, most: 20, default: 5 };

export const geocode = endpoint({
  operation: 'geocode',
  method: 'GET',
  path: '/v2/utilities/geocode',
  service,
  summary: 'Find a place by its name or address',
  description:
    'Names and alternate names of places, unless a geocoder is configured: the exact name first, then an exact alternate name, then what begins with it, each by population.',
  access,
  query: z.object({
    query: SearchText,
    country: CountryCode.optional(),
    limit: numberFrom(limit.least, limit.most)
      .default(limit.default)
      .meta({ type: 'integer', minimum: limit.least, maximum: limit.most, default: limit.default }),
  }),
  success: { status: 200, description: 'Places, best first; none if nothing has the name', body: Geocoding },
});

export const reverseGeocode = endpoint({
  operation: 'reverse_geocode',
  method: 'GET',
  path: '/v2/utilities/reverse-geocode',
  service,
  summary: 'What is at a point',
  description: 'The nearest populated place within 100 km, unless a geocoder is configured.',
  access,
  query: z.object(point),
  success: { status: 200, description: 'The place', body: ReverseGeocoding },
});

export const timezoneOf = endpoint({
  operation: 'timezone',
  method: 'GET',
  path: '/v2/utilities/timezone',
  service,
  summary: 'The time zone of a point',
  description: 'Also at sea, where it is a zone such as `Etc/GMT-3`.',
  access,
  query: z.object({ ...point, at: At }),
  success: { status: 200, description: 'The zone', body: ZoneOfPoint },
});

export const coverage = endpoint({
  operation: 'coverage',
  method: 'GET',
  path: '/v2/utilities/coverage',
  service,
  summary: 'The area around a point, as H3 cells and as GeoJSON',
  description:
    'Within a radius, or by minutes of a mode of travel. A cell belongs to it if its centre is not farther than the radius; that of the point always does. More than 10,000 cells are refused.',
  access,
  query: z
    .object({
      ...point,
      radius_m: numberFrom(50, 100_000, 'number').optional(),
      minutes: numberFrom(1, 60, 'number').optional(),
      mode: z.enum(travelModes).optional(),
      resolution: numberFrom(5, 11)
        .optional()
        .meta({
          ...{ type: 'integer', minimum: 5, maximum: 11 },
          description: 'Without it, the finest with at most 2,000 cells',
        }),
    })
    .check(refinedBy(radiusOrTravel)),
  turns: 'search',
  success: { status: 200, description: 'The area', body: Coverage },
});

export const weatherAt = endpoint({
  operation: 'weather',
  method: 'GET',
  path: '/v2/utilities/weather',
  service,
  summary: 'The weather at a point',
  description: 'From 90 days ago to 7 days ahead. null unless a source of weather is configured.',
  access,
  query: z.object({ ...point, at: At }),
  success: { status: 200, description: 'The weather', body: Weather },
});

export const contextOf = endpoint({
  operation: 'context',
  method: 'GET',
  path: '/v2/utilities/context',
  service,
  summary: 'Local time, day, holiday, light, opening and weather of a location or point',
  description: 'A part whose source fails is null, and `stale` for that source.',
  access,
  query: z
    .object({
      location_id: z.string().optional().meta({ description: 'Id of location' }),
      latitude: point.latitude.optional(),
      longitude: point.longitude.optional(),
      country: CountryCode.optional(),
      at: At,
    })
    .check(refinedBy(placeOrPoint)),
  success: { status: 200, description: 'The context', body: Context },
  problems: ['not-found'],
});
