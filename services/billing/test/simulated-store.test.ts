import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { createTestClock, eventually } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { Kind, ObjectOf } from '../src/provider/simulated/objects.ts';
import { openStore } from '../src/provider/simulated/store.ts';
import { eventsOf } from './provider-support.ts';
import { openSimulated, serve } from './simulated-support.ts';

const script = fileURLToPath(import.meta.resolve('./simulated-crash-child.ts'));
let folder: string;
let file: string;
const running: ChildProcess[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simulated-'));
  file = join(folder, 'simulated.db');
});
afterEach(async () => {
  for (const one of running.splice(0)) await kill(one);
  await rm(folder, { recursive: true });
});

/** Another process, and the ids it has said. */
function run() {
  const child = spawn(process.execPath, [script, file]);
  running.push(child);
  let output = '';
  let failed = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    failed += text;
  });
  const ids = () => {
    expect(failed).toBe('');
    return output.split('\n').slice(0, -1);
  };
  return { child, ids, says: (many: number) => eventually(() => expect(ids().length).toBeGreaterThan(many)) };
}

async function kill(child: ChildProcess) {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'close');
  child.kill('SIGKILL');
  await ended;
}

/** Reads the file directly. */
function contents() {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 2_000 });
  const rows = db.prepare('SELECT data FROM objects').all();
  const objects = rows.map(({ data }) => JSON.parse(String(data)) as ObjectOf<Kind>);
  const of = <K extends Kind>(kind: K) => objects.filter((one): one is ObjectOf<K> => one.object === kind);
  const events = db.prepare('SELECT body, attempts FROM events ORDER BY sequence').all();
  const notified = (type: string) =>
    events
      .map(({ body }) => JSON.parse(String(body)) as { type: string; data: { object: { id: string } } })
      .filter((event) => event.type === type)
      .map((event) => event.data.object.id);
  const check = db.prepare('PRAGMA integrity_check').get();
  db.close();
  return { of, notified, attempts: events.map(({ attempts }) => attempts), check, ids: objects.map(({ id }) => id) };
}

/** Each operation is there with all its objects and events, or not at all. */
function expectWhole() {
  const { of, notified, check } = contents();
  expect(check).toEqual({ integrity_check: 'ok' });
  const ids = (objects: readonly { id: string }[]) => objects.map(({ id }) => id).toSorted();
  const [payments, invoices, refunds, subscriptions] = [
    of('payment_intent'),
    of('invoice'),
    of('refund'),
    of('subscription'),
  ];
  expect(notified('payment_intent.succeeded').toSorted()).toEqual(ids(payments));
  expect(notified('invoice.paid').toSorted()).toEqual(ids(invoices));
  expect(notified('refund.updated').toSorted()).toEqual(ids(refunds));
  expect(notified('customer.subscription.created').toSorted()).toEqual(ids(subscriptions));
  const complete = of('checkout.session').filter(({ status }) => status === 'complete');
  expect(notified('checkout.session.completed').toSorted()).toEqual(ids(complete));

  for (const one of [...payments, ...invoices]) expect(['succeeded', 'paid']).toContain(one.status);
  expect(payments.reduce((sum, one) => sum + one.amount_refunded, 0)).toBe(300 * refunds.length);
  const changed = subscriptions.filter(({ metadata }) => metadata.plan_key === 'large');
  expect(notified('customer.subscription.updated').toSorted()).toEqual(ids(changed));
  expect(payments).toHaveLength(complete.length + changed.length);
  for (const { id, metadata, latest_invoice } of subscriptions)
    expect(invoices.find((one) => one.id === latest_invoice)).toMatchObject({ subscription: id, metadata });
}

test('killed at any moment, it keeps complete operations, and loses none that was answered', async () => {
  const answered: string[] = [];
  for (const moment of [0, 7, 23, 41, 61]) {
    const { child, ids, says } = run();
    await says(5 + moment);
    await new Promise((resolve) => setTimeout(resolve, moment));
    await kill(child);
    answered.push(...ids());
    expectWhole();
  }
  expect(contents().ids).toEqual(expect.arrayContaining(answered));
});

test('another process that is not started reads the file, and neither sends nor changes anything', async () => {
  const { child, ids, says } = run();
  await says(5);
  let received = 0;
  const receiver = await serve((_req, res) => {
    received++;
    res.end();
  });
  // By its clock everything is due.
  const clock = createTestClock();
  clock.advance({ days: 40_000 });
  const reader = await openSimulated({ file, webhookUrl: receiver.url, clock });
  const before = ids().length;
  while (ids().length < before + 20) {
    const [checkout = ''] = ids().filter((id) => id.startsWith('cs_'));
    expect(await reader.provider.getCheckout(checkout)).toMatchObject({ status: 'complete' });
    const { customer_id } = await reader.provider.getPayment(
      (await reader.provider.getCheckout(checkout)).payment_id ?? '',
    );
    expect((await Array.fromAsync(reader.provider.listPayments(customer_id))).length).toBeGreaterThan(0);
    expect(await reader.provider.listPaymentMethods(customer_id)).toBeDefined();
    expect((await eventsOf(reader, new Date(0))).length).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await kill(child);
  const afterKill = contents();
  await reader.close();
  await receiver.close();
  expect([received, new Set(afterKill.attempts)]).toEqual([0, new Set([0])]);
  expect(contents().ids).toEqual(afterKill.ids);
  expectWhole();
});

test('a read does not wait for a writer, and sees the state from before', () => {
  const [writer, reader] = [openStore(file), openStore(file)];
  const customer = { id: 'cus_1', object: 'customer', created: 1 } as ObjectOf<'customer'>;
  writer.transaction(() => {
    writer.put(customer);
    expect(reader.snapshot(() => reader.find('customer', 'cus_1'))).toBeUndefined();
  });
  expect(reader.snapshot(() => reader.find('customer', 'cus_1'))).toEqual(customer);
  reader.close();
  writer.close();
});
