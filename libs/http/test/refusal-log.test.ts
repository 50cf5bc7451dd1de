import { randomUUIDv7 } from 'node:crypto';
import { AuditEntry, type IdKind, idPrefixes } from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { createRefusalLog, type Refused } from '../src/index.ts';

const newId = (kind: IdKind) => `${idPrefixes[kind]}_${randomUUIDv7()}`;
const accountId = newId('account');
const request = {
  id: 'a-request-of-mine',
  platformId: '01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f',
  ip: '203.0.113.9',
  userAgent: 'x'.repeat(300),
};
const refused = (more: Partial<Refused> = {}): Refused => ({
  ...{ accountId, actor: { type: 'person', id: newId('user') }, operation: 'create_group' },
  ...{ subject: null, reason: 'x'.repeat(5_000), request, ...more },
});

/** A log whose records are in `written`, and what it lost. */
function openLog(options: Partial<Parameters<typeof createRefusalLog>[0]> = {}) {
  const written: AuditEntry[] = [];
  const found = { lost: 0, written };
  const log = createRefusalLog({
    write: async (entries) => void written.push(...entries),
    onLost: (count) => {
      found.lost += count;
    },
    now: () => new Date(),
    ...options,
  });
  return { log, found };
}

test('the first refusal of an actor at an endpoint is written at once, further ones as one record with their count', async () => {
  const { log, found } = openLog();
  const one = refused();
  for (let n = 0; n < 500; n++) log.note(one);
  log.note({ ...one, operation: 'delete_group' });
  log.note({ ...one, actor: { type: 'api_key', id: newId('api_key') } });
  await eventually(async () => expect(found.written).toHaveLength(3));
  await log.close();
  expect(found.written.map(({ details }) => details.count)).toEqual([undefined, undefined, undefined, 499]);
  expect(new Set(found.written.map(({ id }) => id)).size).toBe(4);
});

test('while an actor goes on, there is one record a minute, and the count is complete', async () => {
  const { log, found } = openLog({ windowMs: 100 });
  const one = refused();
  const began = performance.now();
  let noted = 0;
  for (; performance.now() - began < 450; noted++) {
    log.note(one);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await log.close();
  expect(found.written.length).toBeLessThanOrEqual(2 + (performance.now() - began) / 100);
  expect(found.written.reduce((sum, { details }) => sum + Number(details.count ?? 1), 0)).toBe(noted);
});

test('a record has at most 4 KiB and is an entry of the contract, whatever the problem said', async () => {
  const { log, found } = openLog();
  log.note(refused({ actor: { type: 'support', id: 'y'.repeat(5_000) } }));
  await log.close();
  for (const entry of found.written) {
    expect(AuditEntry.parse(entry)).toEqual(entry);
    expect(JSON.stringify(entry).length).toBeLessThan(4_096);
  }
});

test('an account with many actors takes no room from another, and what is left out is counted', async () => {
  const { log, found } = openLog({ limits: { windows: 8, windowsOfAccount: 3, waiting: 100 } });
  for (let n = 0; n < 10; n++) log.note(refused());
  expect(found.lost).toBe(7);
  log.note(refused({ accountId: newId('account') }));
  await log.close();
  expect(found.written).toHaveLength(4);
});

test('what cannot be written is counted, and what waits for it is bounded', async () => {
  let fail = () => {};
  const away = new Promise<never>((_resolve, reject) => {
    fail = () => reject(new Error('away'));
  });
  const { log, found } = openLog({
    write: () => away,
    limits: { windows: 100, windowsOfAccount: 100, waiting: 5 },
  });
  log.note(refused());
  await new Promise((resolve) => setImmediate(resolve)); // The first is being written now.
  for (let n = 0; n < 9; n++) log.note(refused());
  expect(found.lost).toBe(4);
  fail();
  await log.close();
  expect([found.lost, found.written]).toEqual([10, []]);
});
