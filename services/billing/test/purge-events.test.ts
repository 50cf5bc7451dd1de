import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { housekeeping } from '../src/notifications/index.ts';
import { type Money, startMoney } from './support-money.ts';

let money: Money;
beforeAll(async () => {
  money = await startMoney();
});
afterAll(() => money.stop());

test('notifications are deleted ninety days after they were received, and never while they wait', async () => {
  const ago = (days: number) => new Date(money.clock.now().getTime() - days * 86_400_000);
  const later = new Date(money.clock.now().getTime() + 86_400_000);
  const insert = (id: string, received: Date, due: Date | null, count = 1) =>
    money.db.query(
      `INSERT INTO provider_events (id, type, object_kind, object_id, created_at, received_at, due_at)
       SELECT $1 || n, 't', 'payment', 'x', $2, $2, $3 FROM generate_series(1, $4::int) AS n`,
      [id, received, due, count],
    );
  // More than one statement deletes.
  await insert('old', ago(91), null, 10_500);
  await insert('young', ago(89), null);
  await insert('waiting', ago(91), later);
  // The job's own turn comes once an hour.
  const deps = { database: { pool: money.db } as never, clock: money.clock };
  expect(await housekeeping(deps)['purge-provider-events'].purge()).toEqual({ provider_events: 10_500 });
  expect(await money.rows('SELECT id FROM provider_events ORDER BY id')).toEqual([
    { id: 'waiting1' },
    { id: 'young1' },
  ]);
});
