import { testServers } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import type { Tools } from '../src/case.ts';
import { cases } from '../src/cases/index.ts';

const tools: Tools = {
  pairs: 1,
  seconds: 0.05,
  minutes: 1,
  smoke: true,
  say: () => {},
  postgresUrl: testServers.postgresUrl(),
  kafkaBrokers: testServers.kafkaBrokers(),
  redisUrl: testServers.redisUrl(),
  s3Url: testServers.s3Url(),
  nginx: testServers.nginx(),
};

/** Skipped unless all servers and programs of `npm run bench` are there. `npm test` reports missing ones and fails in CI. */
const complete = testServers.wrk() && tools.nginx && tools.kafkaBrokers && tools.redisUrl;
const benchTest = complete ? test : test.skip;

/** Long, because some cases start a whole fleet, or the platform three times. */
const timeoutMs = 600_000;

benchTest.each(cases.map((one) => [one.name, one] as const))(
  'the benchmark "%s" runs without errors and returns rows',
  async (_name, one) => {
    const rows = await one.run(tools);
    expect(rows).not.toHaveLength(0);
    for (const { ours } of rows) expect(ours).not.toContain('NaN');
  },
  timeoutMs,
);
