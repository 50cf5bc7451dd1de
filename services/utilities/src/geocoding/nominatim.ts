import type { UtilitiesConfig } from '../config.ts';
import { distanceBetween, type Point } from '../earth.ts';
import { normalized } from '../search-text.ts';
import type { Threads } from '../threads.ts';
import { attributions } from '../told.ts';
import { type AskOptions, ask, createUpstream, longestKeptMs, type UpstreamDependencies } from '../upstream/index.ts';
import { zonesOf } from '../zones/index.ts';
import type { Geocoder, NearPlace, Search } from './geocoder.ts';
import { type Found, FoundList, Reversed } from './nominatim.shapes.ts';

interface NominatimDependencies extends UpstreamDependencies {
  readonly threads: Pick<Threads, 'zones'>;
  readonly config: UtilitiesConfig;
  readonly options: AskOptions;
}

const freshMs = 30 * 24 * 60 * 60 * 1000;
const places = 5;
const rounded = ({ latitude, longitude }: Point): Point => ({
  latitude: Number(latitude.toFixed(places)) + 0,
  longitude: Number(longitude.toFixed(places)) + 0,
});

/** A server that speaks Nominatim's API: https://nominatim.org/release-docs/latest/api/Search/ */
export function createNominatim({ threads, config, options, ...upstream }: NominatimDependencies): Geocoder {
  const common = {
    upstream: 'nominatim',
    attribution: attributions.openStreetMap,
    pace: { intervalMs: config.NOMINATIM_INTERVAL_MS },
    lifetimes: () => ({ freshMs, keptMs: longestKeptMs }),
  };
  const address = (path: string, query: Readonly<Record<string, string>>) => {
    const url = new URL(`${config.NOMINATIM_URL.replace(/\/+$/, '')}/${path}`);
    const asked = { ...query, format: 'jsonv2', addressdetails: '1', extratags: '1', 'accept-language': 'en' };
    url.search = new URLSearchParams(asked).toString();
    return url;
  };

  const find = createUpstream(upstream, {
    ...common,
    key: ({ query, country = '', limit }: Search) => `find ${country} ${limit} ${normalized(query)}`,
    ask: ({ query, country, limit }) => {
      const countrycodes = country && { countrycodes: country.toLowerCase() };
      return ask(address('search', { q: query.trim(), limit: String(limit), ...countrycodes }), FoundList, options);
    },
    view: (said, { limit }) =>
      Promise.all(
        said.slice(0, limit).map(async (found) => ({
          ...viewFound(found),
          population: populationOf(found),
          timezone: (await zonesOf(threads, { latitude: found.lat, longitude: found.lon })).timezone,
        })),
      ),
  });
  const reverse = createUpstream(upstream, {
    ...common,
    key: ({ latitude, longitude }: Point) => `reverse ${latitude} ${longitude}`,
    ask: ({ latitude, longitude }) =>
      ask(address('reverse', { lat: String(latitude), lon: String(longitude) }), Reversed, options),
    view: (said, point): NearPlace | null => {
      if ('error' in said) return null;
      const view = viewFound(said);
      return { ...view, distance_m: Math.round(distanceBetween(point, view)) };
    },
  });
  return { find, reverse: (point) => reverse(rounded(point)) };
}

const viewFound = (found: Found) => ({
  name: found.name || (found.display_name.split(',')[0] ?? '').trim(),
  admin1: found.address?.state ?? found.address?.region ?? null,
  country: found.address?.country_code?.toUpperCase() ?? null,
  latitude: found.lat,
  longitude: found.lon,
  precision: precisionOf(found),
});

/** Ranks of https://nominatim.org/release-docs/latest/customize/Ranking/ */
function precisionOf({ place_rank, addresstype }: Found): NearPlace['precision'] {
  if (place_rank == null) return (addresstype && byType[addresstype]) || 'place';
  if (place_rank >= 28) return 'address';
  if (place_rank >= 26) return 'street';
  return place_rank > 12 ? 'place' : 'region';
}

const byType: Readonly<Record<string, 'address' | 'street' | 'region'>> = {
  ...{ house: 'address', building: 'address', amenity: 'address', shop: 'address', office: 'address' },
  ...{ road: 'street', county: 'region', state: 'region', region: 'region', country: 'region' },
};

/** Volunteers write it, in whatever way. */
function populationOf({ extratags }: Found): number | null {
  const population = Number(extratags?.population ?? Number.NaN);
  return Number.isSafeInteger(population) && population >= 0 ? population : null;
}
