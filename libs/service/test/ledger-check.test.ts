import { captureLogs, createTestClock, createTestDatabase, openBareDatabase } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Registry } from 'prom-client';
import { ledgerCheck } from '../src/index.ts';

let template: Awaited<ReturnType<typeof createTestDatabase>>;
let database: ReturnType<typeof openBareDatabase>;
beforeAll(async () => {
  template = await createTestDatabase('billing');
  database = openBareDatabase({ url: template.url, poolSize: 1 });
});
afterAll(async () => {
  await database.close();
  await template.drop();
});

/** The job as a process has it, which finds so many differences. */
function job(clock = createTestClock(), faults: readonly string[] = []) {
  const registry = new Registry();
  const logs = captureLogs('billing');
  let checks = 0;
  const { run } = ledgerCheck({
    ...{ service: 'billing', sql: database.sql, clock, registry, logger: logs.logger },
    check: async () => {
      checks++;
      return { compared: '3 accounts', faults };
    },
  });
  return {
    run: () => run(new AbortController().signal),
    checks: () => checks,
    differences: async () => /^ledger_differences\S* (\d+)$/m.exec(await registry.metrics())?.[1],
    logs,
  };
}

test('the ledger is checked once a day; a process that starts later knows the outcome, and logs no difference twice', async () => {
  const clock = createTestClock();
  const first = job(clock, ['acc_1: it differs', 'acc_2: it differs']);
  await first.run();
  clock.advance({ minutes: 23 * 60 });
  await first.run();
  expect([first.checks(), await first.differences()]).toEqual([1, '2']);
  expect(first.logs.text()).toContain('acc_2: it differs');

  const second = job(clock);
  await second.run();
  expect([second.checks(), await second.differences()]).toEqual([0, '2']);
  clock.advance({ minutes: 61 });
  await second.run();
  expect([second.checks(), await second.differences()]).toEqual([1, '0']);
});
