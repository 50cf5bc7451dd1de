import { randomBytes } from 'node:crypto';
import { captureLogs, eventually } from '@attribution/testing';
import type { Tracing } from '@attribution/tracing';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import {
  createConsumer,
  createInProcessTransport,
  createOutbox,
  createRelay,
  newEvent,
  observeEvents,
} from '../src/index.ts';
import { accountId, effectsOf, openTestDatabase, recording, things } from './support.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const request = 'b7ad6b7169203331';

interface Noted {
  readonly name: string;
  readonly kind: string;
  readonly parent: string | undefined;
  readonly id: string;
  readonly attempt: unknown;
  failure?: unknown;
  ended: boolean;
}

/** Records what is begun, in memory. */
function noteSpans(): { tracing: Tracing; spans: Noted[] } {
  const spans: Noted[] = [];
  const tracing: Tracing = {
    on: true,
    chooses: () => false,
    begin(name, kind, parent, attributes = {}) {
      if (!parent?.endsWith('-01')) return undefined;
      const id = randomBytes(8).toString('hex');
      const noted: Noted = { name, kind, parent: parent.slice(36, 52), id, attempt: attributes.attempt, ended: false };
      spans.push(noted);
      return {
        traceparent: `${parent.slice(0, 36)}${id}-01`,
        set() {},
        end(failure) {
          noted.ended = true;
          if (failure !== undefined) noted.failure = failure;
        },
      };
    },
    async close() {},
  };
  return { tracing, spans };
}

const { type } = things(3);
const event = (key: string, n: number, flags = '01') =>
  newEvent(
    type,
    { account_id: accountId, key, n },
    { accountId, occurredAt: new Date(), traceparent: `00-${trace}-${request}-${flags}` },
  );

let database: Awaited<ReturnType<typeof openTestDatabase>>;
beforeEach(async () => {
  database = await openTestDatabase();
});
afterEach(() => database.drop());

async function start(before: (n: number) => void = () => {}) {
  const { logger, text } = captureLogs();
  const { tracing, spans } = noteSpans();
  const registry = new Registry();
  const transport = createInProcessTransport();
  const relay = createRelay({ pool: database.pool, transport, logger, tracing, pollEvery: 50 });
  const outbox = createOutbox(() => relay.wake());
  const handlers = [recording(type, 'campaign', before)];
  const metrics = observeEvents(registry, 'campaign', handlers);
  const consumer = createConsumer({
    ...{ service: 'campaign', database, outbox, handlers, logger, metrics, tracing, backoff: [1, 1] },
  });
  transport.subscribe(consumer.subscription);
  await transport.start();
  relay.start();
  return {
    ...{ spans, registry, text },
    send: (...events: Parameters<typeof outbox.append>[1][]) =>
      database.transaction((tx) => outbox.append(tx, ...events)),
    replay: consumer.replay,
    stop: () => relay.stop(Date.now() + 2_000),
  };
}

describe('an event of a recorded trace', () => {
  test('is a span on its way, below what caused it, and another where it has its effect, below that', async () => {
    const { spans, send, stop } = await start();
    await send(event('a', 1), event('b', 1, '00'));
    await eventually(async () => expect(await effectsOf(database, 'campaign', 'b')).toEqual([1]));
    await stop();
    const [publication, effect, ...others] = spans;
    expect(publication).toMatchObject({
      name: 'publish thing.counted',
      kind: 'producer',
      parent: request,
      ended: true,
    });
    expect(effect).toMatchObject({ name: 'consume thing.counted', kind: 'consumer', parent: publication?.id });
    expect(effect).not.toHaveProperty('failure');
    expect(others).toEqual([]);
  });

  test('that fails has a span for each attempt, and its log lines have its trace', async () => {
    let attempts = 0;
    const { spans, registry, text, send, stop } = await start(() => {
      if (++attempts < 3) throw new Error('not yet');
    });
    await send(event('a', 1));
    await eventually(async () => expect(await effectsOf(database, 'campaign', 'a')).toEqual([1]));
    await stop();
    const effects = spans.filter(({ kind }) => kind === 'consumer');
    expect(effects.map(({ attempt, failure }) => [attempt, failure !== undefined])).toEqual([
      [undefined, true],
      [1, true],
      [2, false],
    ]);
    expect(spans.every(({ ended }) => ended)).toBe(true);
    const line = text()
      .split('\n')
      .find((one) => one.includes('An event failed'));
    expect(JSON.parse(line ?? '{}')).toMatchObject({ trace_id: trace });
    const metrics = await registry.metrics();
    expect(metrics).toContain('events_handled_total{service="campaign",type="thing.counted"} 1');
    expect(metrics).toContain('event_failures_total{service="campaign",type="thing.counted"} 1');
    expect(metrics).toContain('event_age_seconds_count{service="campaign"} 1');
  });
});

test('a dead letter that is replayed is counted, and is a span, as any other attempt at an event', async () => {
  let works = false;
  const { spans, registry, send, replay, stop } = await start(() => {
    if (!works) throw new Error('not yet');
  });
  await send(event('a', 1));
  const letters = async () => (await database.pool.query('SELECT replay_requested_at FROM dead_letters')).rows;
  await eventually(async () => expect(await letters()).toHaveLength(1));
  await stop();
  const attempts = spans.length;
  const counted = async (name: string) =>
    Number(
      (await registry.metrics()).match(
        new RegExp(`^${name}{service="campaign",type="thing.counted"} (\\d+)$`, 'm'),
      )?.[1],
    );
  const failures = await counted('event_failures_total');
  const ask = () => database.pool.query('UPDATE dead_letters SET replay_requested_at = now()');
  await ask();
  expect(await replay()).toBe(0);
  expect([await counted('event_failures_total'), await counted('events_handled_total')]).toEqual([failures + 1, 0]);
  works = true;
  await ask();
  expect(await replay()).toBe(1);
  expect([await counted('event_failures_total'), await counted('events_handled_total')]).toEqual([failures + 1, 1]);
  const replays = spans
    .slice(attempts)
    .map(({ name, kind, failure, ended }) => [name, kind, failure !== undefined, ended]);
  expect(replays).toEqual([
    ['consume thing.counted', 'consumer', true, true],
    ['consume thing.counted', 'consumer', false, true],
  ]);
  expect(spans.at(-1)?.parent).toBe(spans.find(({ kind }) => kind === 'producer')?.id);
});

test('a type without handlers does not become a label', async () => {
  const registry = new Registry();
  const { onHandled, onFailed } = observeEvents(registry, 'campaign', [{ event: type }]);
  const { envelope } = event('a', 1).message;
  for (let n = 0; n < 10; n++) {
    onHandled([{ ...envelope, type: `made.up-${n}` }]);
    onFailed({ ...envelope, type: `made.up-${n}` });
  }
  const metrics = await registry.metrics();
  expect(metrics).toContain('events_handled_total{service="campaign",type="other"} 10');
  expect(metrics).not.toContain('made.up');
});
