import { createSigner, generateKeySets } from '@attribution/auth';
import { newId, newUuid } from '@attribution/ids';
import pg from 'pg';
import { type Case, compact, type Row, rateRow, type Tools } from '../case.ts';
import type { BenchDatabase } from '../database.ts';
import { compareServers, withDatabase } from '../endpoints/compare-servers.ts';
import { serviceSettings } from '../endpoints/settings.ts';
import { residentOf } from '../platform/memory.ts';
import { type BenchServer, startServer } from '../server.ts';
import { load } from '../wrk.ts';

/** Milliseconds; megabytes; the rate of a kept answer beside that of a bare read; the default of `LOOK_UP_ANSWERS_KEPT`. */
const bars = { p50: 2, p99: 10, coverage: 20, resident: 512, kept: 1 / 1.2, answers: 100_000 };
const keys = generateKeySets('bench');
const root = '/v2/utilities';

const start = (database: BenchDatabase, more: Record<string, string> = {}) =>
  startServer(new URL('../endpoints/service.server.ts', import.meta.url), {
    ...serviceSettings(keys, 'utilities'),
    SERVICE: 'utilities',
    DATABASE_URL: database.url,
    RELAY: 'off',
    ...more,
  });

function headers() {
  const claims = {
    sub: newId('user'),
    account: newId('account'),
    role: 'owner',
    account_type: 'network',
    sid: newUuid(),
  };
  return { authorization: `Bearer ${createSigner(keys.private).sign('at+jwt', claims, 600)}` };
}

/** Milliseconds that a connection pauses, on average, before it asks again. */
const pauseMs = 50;

/** A Lua script for wrk that asks about other names, or about points near cities, each time. */
const asking = (path: string, pauses: boolean) => `
local n = 0
local names = { 'Zurich', 'Berlin', 'Springfield', 'San', 'Tokyo', 'Lag', 'München', 'new york', 'Porto', '東京' }
local cities = { {47.37, 8.54}, {52.52, 13.4}, {40.71, -74}, {35.68, 139.69}, {-33.87, 151.21}, {6.45, 3.39}, {-23.55, -46.63},
  {19.43, -99.13}, {28.61, 77.2}, {55.75, 37.62}, {30.04, 31.24}, {-1.29, 36.82}, {31.23, 121.47}, {34.05, -118.24}, {-12.05, -77.04}, {64.15, -21.94} }
local function encoded(text)
  return (text:gsub('[^%w]', function(byte) return string.format('%%%02X', byte:byte()) end))
end
function request()
  n = n + 1
  local city = cities[n % #cities + 1]
  local point = string.format('latitude=%.6f&longitude=%.6f', city[1] + n * 0.6180339 % 0.2 - 0.1, city[2] + n * 0.4142135 % 0.2 - 0.1)
  local path = ('${path}'):gsub('POINT', point):gsub('NAME', (encoded(names[n % #names + 1]):gsub('%%', '%%%%')))
  return wrk.format('GET', path)
end
${pauses ? `function delay() return math.random(0, ${2 * pauseMs}) end` : ''}`;

const lookUps = {
  'Places by name': `${root}/geocode?query=NAME`,
  'The nearest place': `${root}/reverse-geocode?POINT`,
  'Time zone of a point': `${root}/timezone?POINT`,
  'Context of a point': `${root}/context?POINT`,
};
/** It looks nothing up: what any answer of the process takes on this machine. */
const nothing = '/healthz';

/** Asks one question. The first of its kind waits until the data are read, which may take longer than a load does. */
async function dataRead(server: BenchServer, path: string): Promise<void> {
  const asked = path.replace('POINT', 'latitude=47.5&longitude=8.25').replace('NAME', 'Zurich');
  const answer = await fetch(`${server.url}${asked}`, { headers: headers() });
  if (!answer.ok) throw new Error(`${asked}: ${answer.status} ${await answer.text()}`);
}

/**
 * Once by clients that pause between their questions, which is how long an answer takes; and once by clients that never do. They keep
 * the process busy all the time, so that a request waits for 31 others, and its time is that of 32 of them.
 */
async function lookUpRows(server: BenchServer, tools: Tools): Promise<Row[]> {
  const rows: Row[] = [];
  for (const pauses of [true, false]) {
    const timesOf = async (path: string) => {
      const options = { url: server.url, headers: headers(), script: asking(path, pauses) };
      if (!tools.smoke) await load({ ...options, seconds: 3 });
      const { p50, p99 } = await load({ ...options, seconds: tools.seconds });
      return { text: `${compact(p50)} and ${compact(p99)} ms`, holds: p50 <= bars.p50 && p99 <= bars.p99 };
    };
    const { text: beside } = await timesOf(nothing);
    for (const [what, path] of Object.entries(lookUps)) {
      await dataRead(server, path);
      const { text: ours, holds } = await timesOf(path);
      const clients = `32 connections ${pauses ? `that pause ${pauseMs} ms` : 'without a pause'}`;
      rows.push({
        what: `${what} beside an answer that looks nothing up, ${clients}: median and 99th percentile`,
        ...{ ours, beside, holds, bar: `≤ ${bars.p50} and ${bars.p99} ms` },
      });
    }
  }
  return rows;
}

async function coverageRow(server: BenchServer, { seconds, smoke }: Tools): Promise<Row> {
  const url = `${server.url}${root}/coverage?latitude=47.3686&longitude=8.5392&radius_m=8000&resolution=9`;
  const options = { url, connections: 1, headers: headers() };
  await dataRead(server, `${root}/coverage?POINT&radius_m=500`);
  if (!smoke) await load({ ...options, seconds: 3 });
  const { p50 } = await load({ ...options, seconds });
  return {
    what: 'Coverage of about 2,000 cells, one at a time',
    ours: `${compact(p50)} ms`,
    beside: '–',
    bar: `≤ ${bars.coverage} ms`,
    holds: p50 <= bars.coverage,
  };
}

/** None where the system does not report it. */
async function memoryRows({ pid }: BenchServer, what: string): Promise<Row[]> {
  const resident = await residentOf(pid);
  if (resident === undefined) return [];
  const holds = resident <= bars.resident;
  return [{ what, ours: `${compact(resident)} MB`, beside: '–', bar: `≤ ${bars.resident} MB`, holds }];
}

export const utilitiesOffline: Case = {
  name: 'utilities: look-ups without a network',
  run: (tools) =>
    withDatabase(tools, 'utilities', async (database) => {
      const server = await start(database);
      try {
        const rows = [...(await lookUpRows(server, tools)), await coverageRow(server, tools)];
        return [...rows, ...(await memoryRows(server, 'Memory of the process with all data'))];
      } finally {
        await server.stop();
      }
    }),
};

export const utilitiesKept: Case = {
  name: 'utilities: a kept answer of an upstream',
  run: (tools) =>
    withDatabase(tools, 'utilities', async (database) => {
      const upstream = await startServer(new URL('../utilities/weather.server.ts', import.meta.url), {}, 'around');
      try {
        const settings = { WEATHER_SOURCE: 'open-meteo', OPEN_METEO_URL: upstream.url };
        const [ours, bare] = await Promise.all([
          start(database, settings),
          startServer(new URL('../utilities/bare.server.ts', import.meta.url), { DATABASE_URL: database.url }),
        ]);
        const path = `${root}/weather?latitude=47.37&longitude=8.54`;
        const asked = { headers: headers() };
        await (await fetch(ours.url + path, asked)).text(); // It is kept from now on.
        const run = async (url: string) => (await load({ url: url + path, seconds: tools.seconds, ...asked })).rate;
        const compared = await compareServers(tools, ours, bare, run);
        return [rateRow('A kept answer beside Express and a read of its row', compared, bars.kept)];
      } finally {
        await upstream.stop();
      }
    }),
};

/** A Lua script for wrk that asks about another hundredth of a degree each time, from the given number on. */
const distinct = (from: number) => `
local n = ${from}
function request()
  n = n + 1
  local path = string.format('${root}/weather?latitude=%.2f&longitude=%.2f', n % 16000 / 100 - 80, math.floor(n / 16000) / 100 - 179)
  return wrk.format('GET', path)
end`;

export const utilitiesMany: Case = {
  name: 'utilities: a million different questions to an upstream',
  run: (tools) =>
    withDatabase(tools, 'utilities', async (database) => {
      const upstream = await startServer(new URL('../utilities/weather.server.ts', import.meta.url), {}, 'around');
      const server = await start(database, {
        ...{ WEATHER_SOURCE: 'open-meteo', OPEN_METEO_URL: upstream.url },
        ...{ OPEN_METEO_INTERVAL_MS: '0', OPEN_METEO_CALLS_PER_DAY: '2000000000' },
      });
      const client = new pg.Client({ connectionString: database.url });
      try {
        await client.connect();
        const [seconds, wanted] = tools.smoke ? [tools.seconds, 1] : [30, 1_000_000];
        let asked = 0;
        while (asked < wanted) {
          // It throws when an answer is no answer.
          const { rate } = await load({ url: server.url, headers: headers(), seconds, script: distinct(asked) });
          asked += Math.ceil(rate * Math.max(1, seconds));
          tools.say(`  ${compact(asked)} of ${compact(wanted)}`);
        }
        const { rows } = await client.query<{ count: number }>('SELECT count(*)::int AS count FROM upstream_answers');
        const kept = rows[0]?.count ?? 0;
        const what = `After ${compact(asked)} different questions`;
        return [
          {
            ...{ what: `${what}: answers that are kept`, ours: compact(kept), beside: compact(asked) },
            ...{ bar: `≤ ${compact(bars.answers)}`, holds: kept <= bars.answers },
          },
          ...(await memoryRows(server, `${what}: memory of the process`)),
        ];
      } finally {
        await client.end();
        await server.stop();
        await upstream.stop();
      }
    }),
};
