import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { newId } from '@attribution/ids';
import { deviceToken, eventually, personToken } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { implement } from '../src/index.ts';
import { type App, declare, startApp } from './support.ts';

const bytes = 100_000;
/** An account has a third, which are two files; all accounts together have four, as they are large. */
const budget = 6 * bytes;

const sendFile = implement(
  declare({
    operation: 'send_file',
    external: true,
    method: 'POST',
    path: '/v2/files',
    access: { credential: 'any' },
    upload: { media: ['text/csv'], max_bytes: bytes },
  }),
  async () => {},
);

const sendBatch = implement(
  declare({
    ...{ operation: 'send_batch', method: 'POST', path: '/v2/batches', access: { credential: 'device' } },
    ...{ body: z.object({ items: z.array(z.string()) }), turns: 'batch' },
  }),
  async () => {},
);

/** Those that are in their handlers, by kind. */
const running = { search: new Set<() => void>(), page: new Set<() => void>() };
const readSlowly = (turns: keyof typeof running) =>
  implement(
    declare({ operation: `read_${turns}`, method: 'GET', path: `/v2/${turns}`, access: { credential: 'any' }, turns }),
    () => new Promise<void>((resolve) => void running[turns].add(resolve)),
  );

let app: App;
beforeAll(async () => {
  app = await startApp([sendFile, sendBatch, readSlowly('search'), readSlowly('page')], { fileBudget: budget });
});
afterAll(() => app.stop());

let undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo) step();
  undo = [];
  await eventually(() => expect(app.files.used).toBe(0));
});

interface Sending {
  readonly req: ClientRequest;
  readonly answer: Promise<[status: number | undefined, retryAfter: string | undefined]>;
}

/** An upload that stalls after its first bytes. */
function stall(token: string): Sending {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'text/csv', 'content-length': String(bytes) };
  const req = request({ port: app.port, host: '127.0.0.1', path: '/v2/files', method: 'POST', agent: false, headers });
  undo.push(() => req.destroy());
  req.on('error', () => {}).write('a,b\n');
  const answer = once(req, 'response').then(([res]): [number | undefined, string | undefined] => {
    (res as IncomingMessage).resume();
    return [(res as IncomingMessage).statusCode, (res as IncomingMessage).headers['retry-after']];
  });
  answer.catch(() => {});
  return { req, answer };
}

const finish = ({ req }: Sending) => req.end(Buffer.alloc(bytes - 4));
const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make);

/** Uploads a file as somebody else, after which the app has seen all requests that were sent before. */
async function otherUploads(): Promise<void> {
  const other = stall(personToken());
  finish(other);
  expect(await other.answer).toEqual([204, undefined]);
}

test('two uploads of an account are received at once, the others wait unread, and those of other accounts do not', async () => {
  const account = newId('account');
  const all = times(8, () => stall(personToken({ account })));
  await eventually(() => expect(app.files.used).toBe(2 * bytes));
  await otherUploads();
  expect(app.files.used).toBe(2 * bytes);
  for (const one of all) finish(one);
  expect(await Promise.all(all.map(({ answer }) => answer))).toEqual(all.map(() => [204, undefined]));
});

test('503: of one credential one upload is received at once, a line waits, and further ones are refused; who leaves gives way', async () => {
  const token = personToken();
  const answers: unknown[] = [];
  const all = times(35, () => stall(token));
  for (const { answer } of all)
    void answer.then(
      (found) => answers.push(found),
      () => {},
    );
  await eventually(() => expect(answers).toHaveLength(2));
  expect(answers).toEqual([
    [503, '5'],
    [503, '5'],
  ]);
  await otherUploads();
  expect(app.files.used).toBe(bytes);
  const [first, ...others] = all;
  first?.req.destroy();
  for (const one of others) one.req.destroy();
  await eventually(() => expect(app.files.used).toBe(0));
  const again = stall(token);
  finish(again);
  expect(await again.answer).toEqual([204, undefined]);
  expect(app.logs.text()).not.toContain('A request failed');
});

test('503: files of all accounts have a budget; a file for which there is no room is refused before it is sent', async () => {
  for (const account of [newId('account'), newId('account')]) times(2, () => stall(personToken({ account })));
  await eventually(() => expect(app.files.used).toBe(4 * bytes));
  expect(await stall(personToken()).answer).toEqual([503, '2']);
  expect(app.files.refused).toMatchObject({ budget: 1 });
});

test('a device that sends batch after batch rests for their bytes while another one is active, and that one does not', async () => {
  const [one, other] = [1, 2].map(() =>
    deviceToken({ id: newId('device'), accountId: newId('account'), fingerprint: 'ab'.repeat(32) }, 'organization'),
  );
  const send = (token: string | undefined, length: number) =>
    app.send('/v2/batches', {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ items: ['x'.repeat(length)] }),
    });
  expect((await send(other, 1)).status).toBe(204);
  const began = performance.now();
  expect((await send(one, 500_000)).status).toBe(204);
  const next = send(one, 1).then(({ status }) => ({ status, ms: performance.now() - began }));
  expect((await send(other, 1)).status).toBe(204);
  const { status, ms } = await next;
  expect(status).toBe(204);
  // 500 kB take 0.4 s at 1.25 MB a second.
  expect(ms).toBeGreaterThanOrEqual(400);
});

test.each(['search', 'page'] as const)(
  'of many requests for a %s at once one of a credential and two of an account run, each other account has its own, and all are answered',
  async (kind) => {
    const handlers = running[kind];
    const [account, other] = [newId('account'), newId('account')];
    const [one, second, third] = times(3, () => personToken({ account, sub: newId('user') }));
    const ask = (token = '') => app.send(`/v2/${kind}`, { headers: { authorization: `Bearer ${token}` } });
    const mine = times(5, () => ask(one));
    await eventually(() => expect(handlers.size).toBe(1));
    // Those of another account are in their handlers although the others were asked for before.
    const strangers = times(3, () => ask(personToken({ account: other, sub: newId('user') })));
    await eventually(() => expect(handlers.size).toBe(3));
    const colleagues = [ask(second), ask(third)];
    await eventually(() => expect(handlers.size).toBe(4));
    const all = Promise.all([...mine, ...strangers, ...colleagues]);
    for (let most = 0, left = 10; left > 0; ) {
      most = Math.max(most, handlers.size);
      expect(most).toBeLessThanOrEqual(4);
      const [end] = handlers;
      if (end && handlers.delete(end)) left--;
      end?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect((await all).map(({ status }) => status)).toEqual(times(10, () => 204));
  },
);
