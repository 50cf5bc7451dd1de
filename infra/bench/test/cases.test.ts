import { testServers } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import type { Tools } from '../src/case.ts';
import { cases } from '../src/cases/index.ts';

const tools: Tools = {
  pairs: 1,
  seconds: 0.05,
  minutes: 1,
  moment: true,
  say: () => {},
  postgresUrl: testServers.postgresUrl(),
  kafkaBrokers: testServers.kafkaBrokers(),
  redisUrl: testServers.redisUrl(),
  nginx: testServers.nginx(),
};

/** Needs what `npm run bench` needs. `npm test` says when a part is missing, and fails for it in CI. */
const complete = testServers.wrk() && tools.nginx && tools.kafkaBrokers && tools.redisUrl;
const benchTest = complete ? test : test.skip;

/** Of what hangs, milliseconds: some start a whole fleet, or the platform three times. */
const timeout = 600_000;

benchTest.each(cases.map((one) => [one.name, one] as const))(
  '%s: runs through, and gives rows',
  async (_name, one) => {
    const rows = await one.run(tools);
    expect(rows).not.toHaveLength(0);
    for (const { ours } of rows) expect(ours).not.toContain('NaN');
  },
  timeout,
);
