import type { Weather } from '@attribution/contracts';
import { z } from 'zod';
import type { UtilitiesConfig } from '../config.ts';
import type { Point } from '../earth.ts';
import { attributions } from '../told.ts';
import { type AskOptions, ask, createUpstream, type UpstreamDependencies, UpstreamFailed } from '../upstream/index.ts';
import type { WeatherSource, WeatherView } from './weather-source.ts';

interface OpenMeteoDependencies extends UpstreamDependencies {
  readonly config: UtilitiesConfig;
  readonly options: AskOptions;
}

interface Asked extends Point {
  /** The beginning of the hour. */
  readonly hour: Date;
  readonly now: Date;
}

const minuteMs = 60 * 1000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
/** What is said of an hour when it is over does not change any more. */
const lifetimes = {
  passing: { freshMs: 15 * minuteMs, keptMs: 6 * hourMs },
  past: { freshMs: 30 * dayMs, keptMs: 30 * dayMs },
};
const places = 2;
const name = 'open-meteo';

/** Values that were never measured on Earth are no answers. */
const values = (least: number, most: number) =>
  z.array(z.number().min(least).max(most).nullable()).max(2_000).optional();

/** What is read of Open-Meteo's answers: https://open-meteo.com/en/docs */
const Hours = z.object({
  hourly_units: z
    .object({
      temperature_2m: z.literal('°C').optional(),
      precipitation: z.literal('mm').optional(),
      wind_speed_10m: z.enum(['m/s', 'km/h']).optional(),
      cloud_cover: z.literal('%').optional(),
    })
    .optional(),
  hourly: z.object({
    time: z.array(z.string().max(40)).min(1).max(2_000),
    temperature_2m: values(-100, 70),
    precipitation: values(0, 500),
    wind_speed_10m: values(0, 500),
    cloud_cover: values(0, 100),
    weather_code: values(0, 99),
  }),
});
type Hours = z.output<typeof Hours>;

/** A server that speaks Open-Meteo's API: hourly values of weather models, past ones too. */
export function createOpenMeteo({ config, options, ...upstream }: OpenMeteoDependencies): WeatherSource {
  const { OPEN_METEO_URL, OPEN_METEO_API_KEY, OPEN_METEO_INTERVAL_MS, OPEN_METEO_CALLS_PER_DAY } = config;
  const find = createUpstream(upstream, {
    upstream: name,
    attribution: attributions.openMeteo,
    pace: { intervalMs: OPEN_METEO_INTERVAL_MS, callsPerDay: OPEN_METEO_CALLS_PER_DAY },
    key: ({ latitude, longitude, hour }: Asked) => `weather ${latitude} ${longitude} ${hour.toISOString()}`,
    lifetimes: ({ hour }, retrievedAt) => (isOver(hour, retrievedAt) ? lifetimes.past : lifetimes.passing),
    ask: ({ latitude, longitude, hour }) => {
      const url = new URL(`${OPEN_METEO_URL.replace(/\/+$/, '')}/v1/forecast`);
      url.search = new URLSearchParams({
        ...{ latitude: String(latitude), longitude: String(longitude) },
        hourly: 'temperature_2m,precipitation,wind_speed_10m,cloud_cover,weather_code',
        ...{ wind_speed_unit: 'ms', timezone: 'GMT', start_hour: nameOf(hour), end_hour: nameOf(hour) },
        ...(OPEN_METEO_API_KEY !== undefined && { apikey: OPEN_METEO_API_KEY }),
      }).toString();
      return ask(url, Hours, options);
    },
    view: viewHour,
  });
  return {
    name,
    at: ({ latitude, longitude }, at) => {
      const hour = new Date(Math.floor(at.getTime() / hourMs) * hourMs);
      const rounded = (degrees: number) => Number(degrees.toFixed(places)) + 0;
      return find({ latitude: rounded(latitude), longitude: rounded(longitude), hour, now: upstream.clock.now() });
    },
  };
}

const isOver = (hour: Date, at: Date) => hour.getTime() + hourMs <= at.getTime();
/** `2026-03-01T09:00` */
const nameOf = (hour: Date) => hour.toISOString().slice(0, 16);

function viewHour({ hourly, hourly_units }: Hours, { hour, now }: Asked): WeatherView {
  const index = hourly.time.indexOf(nameOf(hour));
  if (index < 0) throw new UpstreamFailed(`It did not answer for ${nameOf(hour)}`);
  const at = (column: readonly (number | null)[] | undefined) => column?.[index] ?? null;
  const wind = at(hourly.wind_speed_10m);
  const code = at(hourly.weather_code);
  const read = {
    temperature_c: at(hourly.temperature_2m),
    precipitation_mm: at(hourly.precipitation),
    wind_speed_mps: wind !== null && hourly_units?.wind_speed_10m === 'km/h' ? wind / 3.6 : wind,
    cloud_cover_percent: at(hourly.cloud_cover),
    condition: code === null ? null : (conditionOf.get(code) ?? null),
  };
  if (Object.values(read).every((value) => value === null)) return null;
  return { kind: hour <= now ? 'analysis' : 'forecast', valid_at: hour.toISOString(), ...read };
}

type Condition = NonNullable<NonNullable<z.output<typeof Weather>['weather']>['condition']>;

/** WMO code table 4677, as far as the models have it. */
const codes: Readonly<Record<Condition, readonly number[]>> = {
  clear: [0],
  partly_cloudy: [1, 2],
  overcast: [3],
  fog: [45, 48],
  drizzle: [51, 53, 55, 56, 57],
  rain: [61, 63, 65, 66, 67, 80, 81, 82],
  snow: [71, 73, 75, 77, 85, 86],
  thunderstorm: [95, 96, 99],
};
const conditionOf = new Map(
  Object.entries(codes).flatMap(([condition, all]) => all.map((code) => [code, condition as Condition] as const)),
);
