import { Problem, weatherAt } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { isInRange, type WeatherSource } from './weather-source.ts';

export { createOpenMeteo } from './open-meteo.ts';
export { createNoWeather, isInRange, type WeatherSource } from './weather-source.ts';

export const weatherEndpoint = (source: WeatherSource, clock: Clock) =>
  implement(weatherAt, async ({ query }) => {
    const now = clock.now();
    const at = query.at === undefined ? now : new Date(query.at);
    if (!isInRange(at, now))
      throw new Problem('validation-error', 'query.at: must be from 90 days ago to 7 days ahead.');
    const { answer, ...told } = await source.at(query, at);
    return { weather: answer, ...told };
  });
