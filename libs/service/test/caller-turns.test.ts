import { Problem } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually, personToken, testInternal } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { implement } from '../src/index.ts';
import { type Answered, type App, declare, problemOf, startApp } from './support.ts';

/** Of a credential, or of an address without one; and of an account. */
const [ofOne, ofAccount, waiting] = [8, 16, 256];

const query = z.object({ waits: z.string().optional() });
const shapes = { query, success: { status: 204, description: 'Done' } } as const;
let inside = 0;
let going = Promise.withResolvers<void>();
const handle = async (input: { query: { waits?: string | undefined } }) => {
  if (input.query.waits === undefined) return;
  inside++;
  await going.promise;
};

let app: App;
beforeAll(async () => {
  app = await startApp([
    implement(declare({ ...shapes, method: 'GET', path: '/v2/own', access: { credential: 'any' } }), handle),
    implement(declare({ ...shapes, method: 'GET', path: '/v2/open' }), handle),
    implement(
      declare({ ...shapes, method: 'GET', path: '/v2/refused', access: { credential: 'any' } }),
      async (input) => {
        await handle(input);
        throw new Problem('unprocessable', 'Never.');
      },
    ),
    implement(
      declare({
        ...{ ...shapes, method: 'GET', path: '/v2/internal' },
        access: { credential: 'internal', callers: ['campaign'] },
      }),
      handle,
    ),
  ]);
});
afterAll(() => app.stop());

afterEach(() => {
  going.resolve();
  going = Promise.withResolvers();
  inside = 0;
});

const times = <T>(count: number, make: (n: number) => T) => Array.from({ length: count }, (_, n) => make(n));
const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });
const from = (ip: string) => ({ headers: { 'x-forwarded-for': ip } });
const own = (token: string) => app.send('/v2/own?waits=1', bearer(token));
const statuses = async (sent: readonly Promise<Answered>[]) => (await Promise.all(sent)).map(({ status }) => status);

/** Sends as somebody else, twice one after the other, after which the app has seen whatever was sent before. */
async function othersAreAnswered(): Promise<void> {
  for (const _ of times(2, () => {})) {
    expect((await app.send('/v2/own', bearer(personToken()))).status).toBe(204);
    expect((await app.send('/v2/open', from('192.0.2.200'))).status).toBe(204);
  }
}

test('of one credential so many requests are handled at once, and the others in their turn; those of others do not wait', async () => {
  const token = personToken();
  const sent = times(3 * ofOne, () => own(token));
  await eventually(() => expect(inside).toBe(ofOne));
  await othersAreAnswered();
  expect(inside).toBe(ofOne);
  going.resolve();
  expect(await statuses(sent)).toEqual(sent.map(() => 204));
  expect(inside).toBe(sent.length);
});

test('credentials of one account share a number of turns', async () => {
  const account = newId('account');
  const sent = times(3 * ofOne, () => own(personToken({ account })));
  await eventually(() => expect(inside).toBe(ofAccount));
  await othersAreAnswered();
  expect(inside).toBe(ofAccount);
  going.resolve();
  expect(await statuses(sent)).toEqual(sent.map(() => 204));
});

test('without a token an address has so many turns, an IPv6 /64 like one', async () => {
  const sent = times(2 * ofOne, (n) => app.send('/v2/open?waits=1', from(`2001:db8:0:7::${n + 1}`)));
  await eventually(() => expect(inside).toBe(ofOne));
  await othersAreAnswered();
  expect(inside).toBe(ofOne);
  going.resolve();
  expect(await statuses(sent)).toEqual(sent.map(() => 204));
});

test('a refusal keeps its turn for a tenth of a second while others of its caller wait', async () => {
  const token = personToken();
  const sent = times(2 * ofOne + 1, () => app.send('/v2/refused?waits=1', bearer(token)));
  await eventually(() => expect(inside).toBe(ofOne));
  await othersAreAnswered();
  const began = performance.now();
  const others = othersAreAnswered(); // Who is alone in the service does not rest.
  going.resolve();
  expect(await statuses(sent)).toEqual(sent.map(() => 422));
  expect(performance.now() - began).toBeGreaterThan(190); // Twice, and a timer may be early.
  await others;
});

test('services of the platform need no turns', async () => {
  const token = testInternal('campaign').sign('organization');
  const sent = times(2 * ofAccount, () => app.send('/v2/internal?waits=1', bearer(token)));
  await eventually(() => expect(inside).toBe(sent.length));
  going.resolve();
  expect(await statuses(sent)).toEqual(sent.map(() => 204));
});

test('503: when so many of a caller wait, further ones are told to come again, and nobody else is', async () => {
  const token = personToken();
  const refused: Answered[] = [];
  const sent = times(ofOne + waiting + 3, () => own(token));
  for (const one of sent) void one.then((answer) => answer.status === 503 && refused.push(answer));
  await eventually(() => expect(refused).toHaveLength(3));
  expect(refused.map(({ headers }) => headers['retry-after'])).toEqual(['5', '5', '5']);
  expect(problemOf(refused[0] as Answered)).toMatchObject({ kind: 'unavailable' });
  await othersAreAnswered();
  going.resolve();
  expect((await statuses(sent)).filter((status) => status === 204)).toHaveLength(ofOne + waiting);
});
