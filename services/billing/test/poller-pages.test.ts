import { createTestClock, createTestDatabase } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { reconcile } from '../src/notifications/index.ts';
import { type PaymentProvider, type Progress, ProviderError } from '../src/provider/index.ts';
import { type BillingDatabase, openBillingDatabase } from '../src/store.ts';

let template: Awaited<ReturnType<typeof createTestDatabase>>;
let database: BillingDatabase;
beforeAll(async () => {
  template = await createTestDatabase('billing');
  database = openBillingDatabase({ url: template.url, poolSize: 1 });
});
afterAll(async () => {
  await database.close();
  await template.drop();
});

test('a reading that fails in the middle goes on where it failed; the next one begins anew', async () => {
  const begun: (string | null)[] = [];
  let failures = 1;
  const provider = {
    async *listEvents(_since: Date, progress?: Progress) {
      begun.push(progress?.from ?? null);
      for (let page = Number(progress?.from ?? 0); page < 3; page++) {
        if (page === 2 && failures-- > 0) throw new ProviderError('unavailable', 'It went away.');
        await progress?.passed(String(page + 1));
      }
      yield* [];
    },
  } as Partial<PaymentProvider> as PaymentProvider;
  const deps = { database, provider, clock: createTestClock(), wake() {} };
  await expect(reconcile(deps)).rejects.toThrow('It went away.');
  await reconcile(deps);
  await reconcile(deps);
  expect(begun).toEqual([null, '2', null]);
});
