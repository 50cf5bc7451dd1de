import type { Clock } from '@attribution/runtime';
import type { KnownPlace } from '../places/index.ts';
import type { Threads } from '../threads.ts';
import { attributions, toldNow } from '../told.ts';
import type { Geocoder } from './geocoder.ts';

const withinKm = 100;

const viewPlace = ({ name, admin1, country, latitude, longitude }: KnownPlace) => ({
  ...{ name, admin1, country, latitude, longitude },
  precision: 'place' as const,
});

/** Names and coordinates of populated places, which come with the program. */
export const createGeonames = ({ places }: Pick<Threads, 'places'>, clock: Clock): Geocoder => ({
  async find({ query, limit, country }) {
    const found = await places.find(query, limit, country);
    const answer = found.map((place) => ({
      ...viewPlace(place),
      ...{ population: place.population, timezone: place.timezone === '' ? null : place.timezone },
    }));
    return { answer, ...toldNow(clock, 'geonames', attributions.geonames) };
  },
  async reverse(point) {
    const found = await places.nearest(point, withinKm);
    const answer = found ? { ...viewPlace(found.place), distance_m: Math.round(found.distance) } : null;
    return { answer, ...toldNow(clock, 'geonames', attributions.geonames) };
  },
});
