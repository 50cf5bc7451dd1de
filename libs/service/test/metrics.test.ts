import { createVerifier } from '@attribution/auth';
import { listen, type RunningServer } from '@attribution/http';
import { newId } from '@attribution/ids';
import { createInProcessTransport } from '@attribution/messaging';
import {
  captureLogs,
  createTestDatabase,
  eventually,
  openBareDatabase,
  problemBase,
  testInternal,
  testKeys,
} from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { implement, openService, type Service } from '../src/index.ts';
import { type App, declare, send, startApp, thingId } from './support.ts';

describe('the labels of a request’s metrics', () => {
  let app: App;
  beforeAll(async () => {
    const drop = declare({ operation: 'drop_thing', method: 'DELETE', path: '/v2/things/{id}', params: thingId });
    app = await startApp([implement(drop, async () => {})]);
  });
  afterAll(() => app.stop());

  test('are bounded, whatever paths, ids and methods are sent', async () => {
    for (let n = 0; n < 20; n++) {
      await app.send(`/v2/things/${newId('campaign')}`, { method: 'DELETE' });
      await app.send(`/v2/things/made-up-${n}?x=${n}`, { method: 'DELETE' });
      await app.send(`/made/up/${n}`);
    }
    for (const method of ['PROPFIND', 'PURGE', 'M-SEARCH', 'MKCOL']) await app.send('/v2/things', { method });
    const found: Record<string, Set<unknown>> = {};
    for (const { values } of await app.registry.getMetricsAsJSON())
      for (const { labels } of values)
        for (const [name, value] of Object.entries(labels)) (found[name] ??= new Set()).add(value);
    const { le, ...labels } = found;
    expect(labels).toEqual({
      service: new Set(['probe']),
      method: new Set(['DELETE', 'GET', 'other']),
      operation: new Set(['drop_thing', 'none']),
      status: new Set([204, 404]),
      kind: new Set(['upload', 'export', 'search', 'page', 'batch', 'request']),
      state: new Set(['running', 'waiting']),
    });
    expect(le?.size).toBe(12);
  });
});

describe('the metrics of a service’s dependencies', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let service: Service;
  let server: RunningServer;
  let brokerAnswers = true;
  let isKeptOut = false;
  beforeAll(async () => {
    database = await createTestDatabase('organization');
    const transport = {
      ...createInProcessTransport(),
      async check() {
        if (!brokerAnswers || isKeptOut) throw new Error('away');
      },
      async lag() {
        if (!brokerAnswers) throw new Error('away');
        return [
          { group: 'organization', topic: 'account.events', events: 7, next: [{ partition: 3, offset: 41 }] },
          { group: 'campaign', topic: 'organization.events', events: 9, next: [] },
        ];
      },
      missed: () => [
        { group: 'organization', topic: 'account.events', events: 0 },
        { group: 'campaign', topic: 'organization.events', events: 2 },
      ],
    };
    const opened = openService(
      'organization',
      {
        ...{ databaseUrl: database.url, poolSize: 5, transport, logger: captureLogs().logger, problemBase },
        ...{ verifier: createVerifier(testKeys.public), internal: testInternal('organization'), checkAnswers: true },
      },
      openBareDatabase,
    );
    const every = 60 * 60 * 1000;
    service = opened.assemble({
      publishes: [],
      implementations: [],
      jobs: [
        { name: 'succeeds', every, run: async () => {} },
        { name: 'fails', every, run: () => Promise.reject(new Error('no')) },
      ],
    });
    service.start();
    server = await listen(service.app, { host: '127.0.0.1', port: 0, problemBase });
  });
  afterAll(async () => {
    await server.close(Date.now() + 2_000);
    await service.drain(Date.now() + 2_000);
    await service.close();
    await database.drop();
  });

  const read = async () => (await send(server.port, '/metrics')).text;

  test('its pool, its database and its outbox', async () => {
    const text = await read();
    expect(text).toMatch(/database_pool_connections\{service="organization",state="in_use"\} \d/);
    expect(text).toMatch(/database_pool_connections\{service="organization",state="idle"\} \d/);
    for (const line of ['database_pool_waiting', 'outbox_pending', 'outbox_oldest_seconds', 'dead_letters_total'])
      expect(text).toContain(`${line}{service="organization"} 0`);
    expect(text).toContain('database_pool_max{service="organization"} 5');
    expect(text).toContain('database_up{service="organization"} 1');
  });

  test('the lag of its own consumers, which is absent while the broker is unavailable', async () => {
    const text = await read();
    expect(text).toContain('broker_up{service="organization"} 1');
    expect(text).toContain('consumer_lag{service="organization",topic="account.events"} 7');
    expect(text).toContain('consumer_waiting_offset{service="organization",topic="account.events",partition="3"} 41');
    expect(text).toContain('consumer_missed_events{service="organization",topic="account.events"} 0');
    expect(text).not.toContain('topic="organization.events"');
    brokerAnswers = false;
    const away = await read();
    brokerAnswers = true;
    expect(away).toContain('broker_up{service="organization"} 0');
    expect(away).not.toContain('consumer_lag{');
    expect(away).not.toContain('consumer_waiting_offset{');
    expect(away).toContain('consumer_missed_events{service="organization",topic="account.events"} 0');
  });

  test('the lag is measured also while the broker refuses the consumers', async () => {
    isKeptOut = true;
    const text = await read();
    isKeptOut = false;
    expect(text).toContain('broker_up{service="organization"} 0');
    expect(text).toContain('consumer_lag{service="organization",topic="account.events"} 7');
  });

  test('its jobs: how often they run, how long they take, when they last succeeded, and failures', async () => {
    await eventually(async () =>
      expect(await read()).toContain('job_runs_total{service="organization",job_name="succeeds",outcome="done"} 1'),
    );
    await eventually(async () =>
      expect(await read()).toContain('job_runs_total{service="organization",job_name="fails",outcome="failed"} 1'),
    );
    const text = await read();
    expect(text).toContain('job_every_seconds{service="organization",job_name="fails"} 3600');
    expect(text).toContain('job_seconds_count{service="organization",job_name="succeeds"} 1');
    expect(text).toContain('job_last_success_timestamp_seconds{service="organization",job_name="succeeds"}');
    expect(text).not.toContain('job_last_success_timestamp_seconds{service="organization",job_name="fails"}');
  });

  // This test is the last because it drops the database.
  test('without its database the other metrics are served, and what cannot be read is left out', async () => {
    await database.drop();
    await eventually(async () => {
      const { status, text } = await send(server.port, '/metrics');
      expect(status).toBe(200);
      expect(text).toContain('database_up{service="organization"} 0');
      expect(text).toContain('job_runs_total');
      expect(text).not.toMatch(/^(outbox_\w+|dead_letters)\{/m);
    });
  });
});
