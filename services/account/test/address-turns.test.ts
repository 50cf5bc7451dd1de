import { Problem } from '@attribution/contracts';
import { afterEach, expect, test } from '@jest/globals';
import { inAddressTurns } from '../src/auth/address-turns.ts';

const [atOnce, waiting] = [4, 256];

let begun: string[] = [];
let going = Promise.withResolvers<void>();
afterEach(() => {
  going.resolve();
  going = Promise.withResolvers();
  begun = [];
});

const [implementation] = inAddressTurns([
  {
    contract: {} as never,
    refuse: undefined,
    runTransaction: undefined,
    async handle(input) {
      begun.push((input as unknown as { body: { email: string } }).body.email);
      await going.promise;
    },
  },
]);
let clients = 0;
/** A request from an address that nobody else has. */
const ask = (email: string) =>
  implementation?.handle({ body: { email }, request: { ip: `10.0.${clients >> 8}.${clients++ & 255}` } } as never);
const settled = () => new Promise((resolve) => setImmediate(resolve));
const times = (count: number, email: string) => Array.from({ length: count }, () => ask(email));

test('requests about one address are worked on four at a time, whoever sends them; those about others do not wait', async () => {
  const all = times(10, 'a@example.com');
  await settled();
  expect(begun).toHaveLength(atOnce);
  const other = ask('b@example.com');
  const capital = ask('A@example.com');
  await settled();
  expect(begun.slice(atOnce)).toEqual(['b@example.com']);
  going.resolve();
  await Promise.all([...all, other, capital]);
  expect(begun).toHaveLength(12);
});

test('503: when so many wait, further ones about this address are told to come again', async () => {
  const all = times(atOnce + waiting, 'c@example.com');
  const refused = await ask('c@example.com')?.catch((error: unknown) => error);
  expect(refused).toBeInstanceOf(Problem);
  expect(refused).toMatchObject({ kind: 'unavailable' });
  going.resolve();
  await Promise.all(all);
});
