import { geocode, reverseGeocode } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { Geocoder } from './geocoder.ts';

export type { Geocoder } from './geocoder.ts';
export { createGeonames } from './geonames.ts';
export { createNominatim } from './nominatim.ts';

export const geocodeEndpoint = (geocoder: Geocoder) =>
  implement(geocode, async ({ query }) => {
    const { answer, ...told } = await geocoder.find(query);
    return { entries: answer, ...told };
  });

export const reverseGeocodeEndpoint = (geocoder: Geocoder) =>
  implement(reverseGeocode, async ({ query }) => {
    const { answer, ...told } = await geocoder.reverse(query);
    return { place: answer, ...told };
  });
