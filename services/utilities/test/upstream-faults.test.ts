import type { ServerResponse } from 'node:http';
import { geocode, weatherAt } from '@attribution/contracts';
import { type TestService, testServers } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { openUtilitiesDatabase, type UtilitiesDatabase } from '../src/store.ts';
import { bookCall, keepAnswer } from '../src/upstream/upstream.store.ts';
import { newTenant, startUtilities } from './support.ts';
import { json, startNominatim, startOpenMeteo, type Upstream } from './support-upstreams.ts';

const kept = 10;
let nominatim: Upstream;
let openMeteo: Upstream;
let service: TestService;
let database: UtilitiesDatabase;
/** The same hour for all tests. */
let tomorrow: string;
beforeAll(async () => {
  [nominatim, openMeteo] = await Promise.all([startNominatim(), startOpenMeteo()]);
  service = await startUtilities({
    ...{ GEOCODER: 'nominatim', NOMINATIM_URL: nominatim.url, NOMINATIM_INTERVAL_MS: '1' },
    ...{ WEATHER_SOURCE: 'open-meteo', OPEN_METEO_URL: openMeteo.url, OPEN_METEO_INTERVAL_MS: '1' },
    ...{ LOOK_UP_TIMEOUT_MS: '400', LOOK_UP_ANSWERS_KEPT: `${kept}` },
  });
  tomorrow = daysAgo(-1).toISOString();
  const { rows } = await service.db.query('SELECT current_database() AS name');
  const url = new URL(testServers.postgresUrl());
  url.pathname = `/${rows[0].name}`;
  database = openUtilitiesDatabase({ url: url.href, poolSize: 8 });
});
afterAll(async () => {
  await database.close();
  await service.stop();
  nominatim.stop();
  openMeteo.stop();
});
beforeEach(() => {
  nominatim.respond = nominatim.answer;
  openMeteo.respond = openMeteo.answer;
});

const search = (query: string) => newTenant(service).owner.call(geocode, { query: { query } as never });
const point = { latitude: '47.3686', longitude: '8.5392' };
const weather = (query: object = {}) =>
  newTenant(service).owner.call(weatherAt, { query: { ...point, ...query } as never });
const day = 24 * 60 * 60 * 1000;
const daysAgo = (days: number) => new Date(service.clock.now().getTime() - days * day);
const age = (days: number) => service.db.query('UPDATE upstream_answers SET retrieved_at = $1', [daysAgo(days)]);

const faults: Record<string, (response: ServerResponse) => void> = {
  'does not answer in time': () => {},
  'cuts the connection': (response) => response.destroy(),
  'answers HTML with 200': (response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
  'answers 200 and nothing': (response) => response.writeHead(200).end(),
  'answers 200 and nonsense': (response) => json(response, { surprise: true }),
  'answers 200 and places outside of the Earth': (response) =>
    json(response, [{ lat: '123.4', lon: '8', display_name: 'Nowhere' }]),
  'answers 200 and NaN': (response) => json(response, [{ lat: 'NaN', lon: '8', display_name: 'Nowhere' }]),
  'answers more than an answer can be': (response) => response.writeHead(200).end(`["${'x'.repeat(300_000)}"]`),
  'answers bytes that are no text': (response) => response.writeHead(200).end(Buffer.from([0x22, 0xff, 0xfe, 0x22])),
  'answers 429': (response) => json(response, {}, 429),
  'answers 500': (response) => json(response, {}, 500),
  'leads elsewhere': (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
};

/** How each server is asked, and how many days its answers are fresh, and kept. */
const drivers = {
  nominatim: {
    server: () => nominatim,
    ask: (what: number) => search(what === 0 ? 'Zürich' : 'Sydney'),
    ...{ freshDays: 30, keptDays: 365 },
  },
  'open-meteo': {
    server: () => openMeteo,
    ask: (what: number) => weather({ latitude: String(40 + what), at: tomorrow }),
    ...{ freshDays: 15 / 24 / 60, keptDays: 6 / 24 },
  },
};
const cases = Object.entries(drivers).flatMap(([name, driver]) =>
  Object.entries(faults).map(([fault, respond]) => [name, fault, driver, respond] as const),
);

test.each(cases)(
  '%s %s: 502, or the kept answer as a stale one',
  async (_name, _fault, { server, ask, freshDays, keptDays }, fault) => {
    await service.db.query('DELETE FROM upstream_answers');
    const fresh = (await ask(0)).body;
    server().respond = (_, response) => fault(response);
    expect((await ask(1)).problem).toMatchObject({ status: 502, kind: 'upstream-error' });
    await age(freshDays * 1.01);
    const stale = (await ask(0)).body;
    expect(stale).toEqual({ ...fresh, stale: true, retrieved_at: expect.any(String) });
    expect(Date.parse(stale.retrieved_at)).toBeLessThan(daysAgo(freshDays).getTime());
    await age(keptDays * 1.01);
    expect((await ask(0)).problem).toMatchObject({ status: 502, kind: 'upstream-error' });
    server().respond = server().answer;
    expect((await ask(0)).body).toEqual({ ...fresh, retrieved_at: expect.any(String) });
  },
);

test('who asks the same at the same time shares one request', async () => {
  const before = nominatim.asked.length;
  let finish = () => {};
  nominatim.respond = (url, response, request) => {
    finish = () => nominatim.answer(url, response, request);
  };
  const asked = Array.from({ length: 20 }, () => search('Sydney'));
  while (nominatim.asked.length === before) await new Promise((resolve) => setTimeout(resolve, 5));
  finish();
  for (const answer of await Promise.all(asked)) expect(answer.status).toBe(200);
  expect(nominatim.asked.length).toBe(before + 1);
});

test('of many different questions no more answers are kept than may be, and the newest are', async () => {
  await service.db.query('DELETE FROM upstream_answers');
  for (let number = 0; number < 3 * kept; number++) await search(`question ${number}`);
  const { rows } = await service.db.query('SELECT count(*)::int AS count FROM upstream_answers');
  expect(rows[0].count).toBe(kept);
  const before = nominatim.asked.length;
  await search(`question ${3 * kept - 1}`);
  expect(nominatim.asked.length).toBe(before);
  await search('question 0');
  expect(nominatim.asked.length).toBe(before + 1);
});

test('answers to one question that processes keep at the same time are one row', async () => {
  const row = { key: 'the same', upstream: 'nominatim', said: [], answer: [], retrieved_at: new Date() };
  const settled = await Promise.allSettled(Array.from({ length: 8 }, () => keepAnswer(database.sql, row, kept)));
  expect(settled.some(({ status }) => status === 'fulfilled')).toBe(true);
  const { rows } = await service.db.query("SELECT key FROM upstream_answers WHERE key = 'the same'");
  expect(rows).toHaveLength(1);
});

test('processes that ask an upstream at the same time keep its pace, its patience and its daily number together', async () => {
  const pace = { intervalMs: 10_000 };
  const waits = await Promise.all(Array.from({ length: 8 }, () => bookCall(database.sql, 'slow', pace, 45_000)));
  const booked = waits.filter((wait) => wait !== undefined).sort((a, b) => a - b);
  // One at once, and one each ten seconds as long as the patience lasts.
  expect(booked.length).toBeGreaterThanOrEqual(5);
  expect(booked.length).toBeLessThan(8);
  expect(new Set(booked.map((wait) => Math.round(wait / 10_000))).size).toBe(booked.length);
  const daily = { intervalMs: 1, callsPerDay: 3 };
  const counted = await Promise.all(Array.from({ length: 8 }, () => bookCall(database.sql, 'scarce', daily, 5_000)));
  expect(counted.filter((wait) => wait !== undefined)).toHaveLength(3);
});

test('an upstream that asks to be left alone is left alone', async () => {
  nominatim.respond = (_, response) => response.writeHead(429, { 'retry-after': '120' }).end('{}');
  expect((await search('too much')).problem).toMatchObject({ kind: 'upstream-error' });
  nominatim.respond = nominatim.answer;
  const before = nominatim.asked.length;
  expect((await search('again')).problem).toMatchObject({ kind: 'upstream-error' });
  expect(nominatim.asked.length).toBe(before);
  await service.db.query("DELETE FROM upstreams WHERE name = 'nominatim'");
});

test('the weather is what the upstream says for the hour, of the past and of what is to come', async () => {
  const said = {
    temperature_c: 7.4,
    precipitation_mm: 0.2,
    wind_speed_mps: 3.1,
    cloud_cover_percent: 88,
    condition: 'rain',
  };
  expect((await weather()).body).toMatchObject({
    weather: { kind: 'analysis', ...said },
    source: 'open-meteo',
    stale: false,
  });
  const tomorrow = new Date(service.clock.now().getTime() + day);
  const { weather: ahead } = (await weather({ at: tomorrow.toISOString() })).body;
  expect(ahead).toEqual({ kind: 'forecast', valid_at: `${tomorrow.toISOString().slice(0, 13)}:00:00.000Z`, ...said });
});

test('an hour that was over is asked for once in 30 days, and one that was not again after 15 minutes', async () => {
  await service.db.query('DELETE FROM upstream_answers');
  const past = daysAgo(3).toISOString();
  for (const at of [past, undefined]) await weather(at === undefined ? {} : { at });
  await service.db.query("UPDATE upstream_answers SET retrieved_at = retrieved_at - interval '16 minutes'");
  const before = openMeteo.asked.length;
  await weather({ at: past });
  expect(openMeteo.asked.length).toBe(before);
  await weather();
  expect(openMeteo.asked.length).toBe(before + 1);
});

test('weather that cannot be is no answer, and what the upstream lacks is null', async () => {
  await service.db.query('DELETE FROM upstream_answers');
  const hours = (url: URL, values: object) => ({ hourly: { time: [url.searchParams.get('start_hour')], ...values } });
  openMeteo.respond = (url, response) => json(response, hours(url, { temperature_2m: [451] }));
  expect((await weather()).problem).toMatchObject({ kind: 'upstream-error' });
  openMeteo.respond = (_, response) => json(response, { hourly: { time: ['1999-01-01T00:00'], temperature_2m: [1] } });
  expect((await weather()).problem).toMatchObject({ kind: 'upstream-error' });
  openMeteo.respond = (url, response) => json(response, hours(url, { temperature_2m: [null], cloud_cover: [12] }));
  expect((await weather()).body.weather).toMatchObject({
    temperature_c: null,
    cloud_cover_percent: 12,
    condition: null,
  });
});

test('400: the weather of 91 days ago, and of 8 days ahead, is not asked for', async () => {
  for (const days of [91, -8])
    expect((await weather({ at: daysAgo(days).toISOString() })).problem).toMatchObject({ kind: 'validation-error' });
});
