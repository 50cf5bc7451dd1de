import { setting } from '@attribution/runtime';
import { z } from 'zod';

/** The settings of utilities, in addition to those that every service has. */
export const utilitiesSettings = z.object({
  GEOCODER: z.enum(['geonames', 'nominatim']).default('geonames').meta({
    description: '`geonames`: names of places, without a network; `nominatim`: addresses too, by a server',
  }),
  NOMINATIM_URL: z
    .url({ protocol: /^https?$/ })
    .default('https://nominatim.openstreetmap.org')
    .meta({ description: 'A server that speaks the API of Nominatim' }),
  NOMINATIM_INTERVAL_MS: setting.count.default(1_000).meta({
    description: 'Milliseconds from one request to the next, of all processes; the public server demands a second',
  }),
  WEATHER_SOURCE: z.enum(['none', 'open-meteo']).default('none').meta({
    description: '`none`: weather is null; `open-meteo`: by a server',
  }),
  OPEN_METEO_URL: z
    .url({ protocol: /^https?$/ })
    .default('https://api.open-meteo.com')
    .meta({ description: 'A server that speaks the API of Open-Meteo' }),
  OPEN_METEO_API_KEY: z.string().optional().meta({
    description: 'What customers of Open-Meteo are known by; it is free without one, but not for commercial use',
    secret: true,
    example: 'sample',
  }),
  OPEN_METEO_INTERVAL_MS: setting.count.default(720).meta({
    description: 'Milliseconds from one request to the next, of all processes; free are 5,000 an hour',
  }),
  OPEN_METEO_CALLS_PER_DAY: setting.count.default(10_000).meta({
    description: 'How many requests it is sent at most on a day (UTC), by all processes',
  }),
  LOOK_UP_USER_AGENT: z.string().min(1).default('attribution-platform').meta({
    description: 'How requests to these servers say who sends them; public ones demand that it leads to a person',
  }),
  LOOK_UP_TIMEOUT_MS: setting.count
    .default(3_000)
    .meta({ description: 'Milliseconds that such a server has for an answer' }),
  LOOK_UP_ANSWERS_KEPT: setting.count.default(100_000).meta({
    description: 'How many of their answers are kept; the oldest makes room for the newest',
  }),
});

export type UtilitiesConfig = z.output<typeof utilitiesSettings>;
