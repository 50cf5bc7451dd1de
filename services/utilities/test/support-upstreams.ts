import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Respond = (url: URL, response: ServerResponse, request: IncomingMessage) => void;

/** A server whose answers a test changes, and which remembers what it was asked. */
export async function startUpstream(answer: Respond) {
  const state = { respond: answer, asked: [] as URL[], agents: new Set<string | undefined>() };
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://upstream');
    state.asked.push(url);
    state.agents.add(request.headers['user-agent']);
    state.respond(url, response, request);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answer,
    stop() {
      server.closeAllConnections();
      server.close();
    },
  });
}

export type Upstream = Awaited<ReturnType<typeof startUpstream>>;

export function json(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

const places = [
  { name: 'Zürich', state: 'Zürich', country_code: 'ch', lat: '47.3744489', lon: '8.5410422', population: '443037' },
  {
    name: 'Zürich Affoltern',
    state: 'Zürich',
    country_code: 'ch',
    lat: '47.4188',
    lon: '8.5124',
    population: undefined,
  },
  {
    name: 'Sydney',
    state: 'New South Wales',
    country_code: 'au',
    lat: '-33.8698439',
    lon: '151.2082848',
    population: '5450496',
  },
];

const found = ({ name, state, country_code, lat, lon, population }: (typeof places)[number]) => ({
  ...{ place_id: 1, osm_type: 'relation', osm_id: 1, lat, lon, name, display_name: `${name}, ${state}` },
  ...{ place_rank: 16, category: 'boundary', type: 'administrative', addresstype: 'city', importance: 0.7 },
  licence: 'Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright',
  address: { city: name, state, country: 'A country', country_code },
  extratags: population === undefined ? null : { population },
  boundingbox: ['47.3', '47.4', '8.4', '8.6'],
});

/** Answers like Nominatim that knows three places. */
export const startNominatim = () =>
  startUpstream(({ pathname, searchParams }, response) => {
    if (pathname === '/search') {
      const text = (searchParams.get('q') ?? '').toLowerCase();
      const codes = searchParams.get('countrycodes');
      const matching = places.filter(
        ({ name, country_code }) => name.toLowerCase().startsWith(text) && (codes === null || codes === country_code),
      );
      return json(response, matching.slice(0, Number(searchParams.get('limit'))).map(found));
    }
    const near = places.find(
      ({ lat, lon }) =>
        Math.hypot(Number(lat) - Number(searchParams.get('lat')), Number(lon) - Number(searchParams.get('lon'))) < 0.5,
    );
    json(response, near ? found(near) : { error: 'Unable to geocode' });
  });

/** Answers like Open-Meteo, with the same weather everywhere at every hour. */
export const startOpenMeteo = () =>
  startUpstream(({ searchParams }, response) =>
    json(response, {
      ...{ latitude: 47.36, longitude: 8.54, generationtime_ms: 0.1, utc_offset_seconds: 0, timezone: 'GMT' },
      hourly_units: {
        time: 'iso8601',
        temperature_2m: '°C',
        precipitation: 'mm',
        wind_speed_10m: 'm/s',
        cloud_cover: '%',
      },
      hourly: {
        time: [searchParams.get('start_hour')],
        ...{
          temperature_2m: [7.4],
          precipitation: [0.2],
          wind_speed_10m: [3.1],
          cloud_cover: [88],
          weather_code: [61],
        },
      },
    }),
  );
