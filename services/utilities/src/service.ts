import type { OpenDependencies, ServiceContents } from '@attribution/service';
import { coverageEndpoint } from './area/index.ts';
import type { UtilitiesConfig } from './config.ts';
import { contextEndpoint } from './context/index.ts';
import { createGeonames, createNominatim, geocodeEndpoint, reverseGeocodeEndpoint } from './geocoding/index.ts';
import type { Tx, UtilitiesDatabase } from './store.ts';
import { openThreads } from './threads.ts';
import { lookUpTimeZoneEndpoint, timezoneEndpoint } from './timezone/index.ts';
import { trimAnswers } from './upstream/index.ts';
import { createNoWeather, createOpenMeteo, weatherEndpoint } from './weather/index.ts';

type UtilitiesDependencies = OpenDependencies<UtilitiesDatabase, UtilitiesConfig, 'organization'>;

export function openUtilities({ database, clock, logger, config }: UtilitiesDependencies): ServiceContents<Tx> {
  const threads = openThreads();
  const options = { timeoutMs: config.LOOK_UP_TIMEOUT_MS, userAgent: config.LOOK_UP_USER_AGENT };
  const upstream = { database, clock, logger, kept: config.LOOK_UP_ANSWERS_KEPT, config, options };
  const geocoder =
    config.GEOCODER === 'nominatim' ? createNominatim({ ...upstream, threads }) : createGeonames(threads, clock);
  const weather = config.WEATHER_SOURCE === 'open-meteo' ? createOpenMeteo(upstream) : createNoWeather(clock);

  return {
    implementations: [
      geocodeEndpoint(geocoder),
      reverseGeocodeEndpoint(geocoder),
      timezoneEndpoint({ threads, clock }),
      coverageEndpoint({ threads, clock }),
      weatherEndpoint(weather, clock),
      contextEndpoint({ database, threads, weather, clock, logger }),
      lookUpTimeZoneEndpoint({ threads, clock }),
    ],
    jobs: [trimAnswers(database, config.LOOK_UP_ANSWERS_KEPT)],
    drain: () => threads.stop(),
  };
}
