import { changePassword, forgotPassword, login, resetPassword, verifyEmail } from '@attribution/contracts';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { claimTelling, countGuess, uncountGuess } from '../src/guesses/guess.store.ts';
import { openAccountDatabase } from '../src/store.ts';
import {
  count,
  join,
  newEmail,
  type Person,
  password,
  resetCode,
  rows,
  signUp,
  startAccountService,
  statusesOf,
  wrong,
} from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

let addresses = 0;
/** A client at an address where nobody has been before. */
const stranger = () =>
  service.client.with({
    headers: { 'x-forwarded-for': `198.51.${Math.floor(++addresses / 250)}.${addresses % 250}` },
  });
const guess = (email: string, client = stranger(), guessed = 'a wrong guess') =>
  client.call(login, { body: { email, password: guessed } });
const times = (n: number) => Array.from({ length: n });
const guessOften = async (email: string, n: number) => {
  for (const _ of times(n)) await guess(email);
};

test.each([
  ['a user’s', async () => (await join(service)).email],
  ['an unverified user’s', async () => (await signUp(service)).email],
  ['an unknown', async () => newEmail()],
])('429: of 60 wrong passwords of %s address at once, each from another client, 20 are checked', async (_, address) => {
  const email = await address();
  const began = performance.now();
  const answers = await Promise.all(times(60).map(() => guess(email)));
  const tookSeconds = (performance.now() - began) / 1_000;
  expect(statusesOf(answers)).toEqual({ 401: 20, 429: 40 });
  const refused = answers.find(({ status }) => status === 429);
  const header = (name: string) => refused?.headers.get(name);
  const seconds = header('retry-after');
  expect(Number(seconds)).toBeGreaterThanOrEqual(Math.floor(60 - tookSeconds));
  expect(Number(seconds)).toBeLessThanOrEqual(60);
  expect(refused?.problem?.detail).toBe(
    `Too many wrong passwords or codes for this address. Try again in ${seconds} s.`,
  );
  expect(['ratelimit-limit', 'ratelimit-remaining', 'ratelimit-reset'].map(header)).toEqual(['20', '0', seconds]);
  expect((await guess(email.toUpperCase(), stranger(), password)).status).toBe(429);
});

test('429: known and unknown addresses get responses that are identical byte for byte, before and after', async () => {
  const [known, unknown] = [(await join(service)).email, newEmail()];
  for (const email of [known, unknown]) await guessOften(email, 19);
  for (const _ of times(2)) {
    const [first, second] = await Promise.all(
      [known, unknown].map(async (email) => {
        const response = await fetch(`${service.url}/v2/auth/login`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-forwarded-for': '203.0.113.99' },
          body: JSON.stringify({ email, password: 'a wrong guess' }),
        });
        return [response.status, response.headers.get('retry-after'), await response.text()];
      }),
    );
    expect(first).toEqual(second);
  }
});

test('one wrong try after each block is checked, and the next block is twice as long, up to 15 minutes', async () => {
  const email = newEmail();
  await guessOften(email, 20);
  const blocks: number[] = [];
  for (const _ of times(6)) {
    const refused = await guess(email);
    expect(refused.status).toBe(429);
    const seconds = Number(refused.headers.get('retry-after'));
    blocks.push(seconds);
    service.clock.advance({ seconds });
    expect((await guess(email)).status).toBe(401);
  }
  expect(blocks).toEqual([60, 120, 240, 480, 900, 900]);
  service.clock.advance({ minutes: 60, seconds: 1 });
  for (const _ of times(20)) expect((await guess(email)).status).toBe(401);
  expect((await guess(email)).status).toBe(429);
});

test('wrong passwords, reset codes and verification codes of an address count together', async () => {
  const { email } = await signUp(service);
  await guessOften(email, 10);
  const code = await service.mailbox.codeFor(email);
  for (const _ of times(5)) await stranger().call(verifyEmail, { body: { email, code: wrong(code) } });
  const reset = await resetCode(service, email);
  const tryReset = (tried: string) =>
    stranger().call(resetPassword, { body: { email, code: tried, new_password: 'eight loud trumpets' } });
  for (const _ of times(5)) await tryReset(wrong(reset));
  const afresh = await resetCode(service, email, 3);
  expect([(await tryReset(afresh)).status, (await guess(email)).status]).toEqual([429, 429]);
  const verify = await stranger().call(verifyEmail, { body: { email, code } });
  expect(verify.problem).toMatchObject({ status: 429, kind: 'rate-limited' });
  // What was refused has not counted as an attempt at the code.
  service.clock.advance({ seconds: 61 });
  expect((await tryReset(afresh)).status).toBe(204);
});

test('50 guesses counted at the same moment: exactly 20 have place; what was right makes place for as many again', async () => {
  const database = openAccountDatabase({ url: String(service.db.options.connectionString), poolSize: 20 });
  try {
    const now = service.clock.now();
    const marks = { address: 'an address', network: 'a client' };
    const countAll = async () => {
      const counts = await Promise.all(times(50).map(() => countGuess(database.prisma, marks, true, now)));
      return counts.filter((counted) => counted !== undefined);
    };
    const counted = await countAll();
    const numbers = counted.map(({ wrong: number }) => number).sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    await Promise.all(counted.slice(0, 5).map((one) => uncountGuess(database.prisma, marks, one, 'code')));
    expect(await countAll()).toHaveLength(5);
    const told = await Promise.all(times(20).map(() => claimTelling(database.prisma, marks, now)));
    expect(told.filter(Boolean)).toHaveLength(1);
  } finally {
    await database.close();
  }
});

test('300 wrong reset codes from fresh addresses: at most 20 are compared, of any number of codes', async () => {
  const { email } = await join(service);
  const statuses: number[] = [];
  for (let round = 2; round < 8; round++) {
    await service.db.query('DELETE FROM mail_budgets'); // As if the codes were asked for at different hours.
    const code = await resetCode(service, email, round);
    const body = { email, code: wrong(code), new_password: 'eight loud trumpets' };
    const answers = await Promise.all(times(50).map(() => stranger().call(resetPassword, { body })));
    statuses.push(...answers.map(({ status }) => status));
  }
  expect(statuses.filter((status) => status === 400)).toHaveLength(16); // The fifth of each code is answered 410.
  expect(await wrongOf(email)).toBe(20);
});

/** The wrong guesses of strangers at the one address that somebody guesses at in this test. */
async function wrongOf(email: string): Promise<number> {
  await guess(email);
  const [row] = await rows<{ wrong: number }>(
    service,
    "SELECT wrong FROM guess_budgets WHERE network_mark = '' ORDER BY touched_at DESC, wrong DESC LIMIT 1",
  );
  return row?.wrong ?? 0;
}

test('a stranger locks nobody out: clients from which the person signed in within 30 days have budgets of their own', async () => {
  const person = await join(service);
  const [home, office] = [stranger(), stranger()];
  for (const place of [home, office]) expect((await guess(person.email, place, password)).status).toBe(200);
  await guessOften(person.email, 21);
  expect((await guess(person.email, stranger(), password)).status).toBe(429);
  expect((await guess(person.email, home, password)).status).toBe(200);
  for (const _ of times(20)) expect((await guess(person.email, home)).status).toBe(401);
  expect((await guess(person.email, home, password)).status).toBe(429);
  expect((await guess(person.email, office, password)).status).toBe(200);
  service.clock.advance({ days: 30, seconds: 1 });
  await guessOften(person.email, 20);
  expect((await guess(person.email, office, password)).status).toBe(429);
});

test('right passwords are not counted, however many come at once', async () => {
  const { email } = await join(service);
  await guessOften(email, 18);
  const answers = await Promise.all(times(30).map(() => guess(email, service.client, password)));
  expect(statusesOf(answers)).toEqual({ 200: 30 });
  const client = stranger();
  for (const _ of times(3)) expect((await guess(email, client, password)).status).toBe(200);
});

test('the person is told by mail once; nobody is told about an unknown address', async () => {
  const person = await join(service);
  const unknown = newEmail();
  for (const email of [person.email, unknown]) await guessOften(email, 21);
  for (const _ of times(2)) {
    service.clock.advance({ minutes: 61 });
    await guessOften(person.email, 20);
  }
  const told = async () =>
    (await service.mailbox.messagesTo(person.email)).filter((text) => text.includes('Many wrong sign-ins'));
  await eventually(async () => expect(await told()).toHaveLength(1));
  await service.client.call(forgotPassword, { body: { email: person.email } });
  await service.mailbox.codeFor(person.email, 3); // Whatever else was queued before has been sent by now.
  expect(await told()).toHaveLength(1);
  expect(await service.mailbox.messagesTo(unknown)).toEqual([]);
});

/** As after 100 wrong passwords, which take a stranger a day. */
async function guessUntilLocked({ email }: Person): Promise<void> {
  await guess(email);
  await service.db.query(
    "UPDATE guess_budgets SET wrong_passwords = 99 WHERE network_mark = '' AND touched_at = (SELECT max(touched_at) FROM guess_budgets)",
  );
  await guess(email);
}

test('after 100 wrong passwords in a row the right one is wrong too, except where the person was and after a reset', async () => {
  const person = await join(service);
  const home = stranger();
  await guess(person.email, home, password);
  await guessUntilLocked(person);
  const locked = await guess(person.email, stranger(), password);
  expect(locked.problem).toMatchObject({ status: 401, detail: 'The address or the password is wrong.' });
  expect((await guess(person.email, home, password)).status).toBe(200);
  expect((await guess(person.email, stranger(), password)).status).toBe(401);
  const body = {
    email: person.email,
    code: await resetCode(service, person.email),
    new_password: 'eight loud trumpets',
  };
  expect((await stranger().call(resetPassword, { body })).status).toBe(204);
  expect((await guess(person.email, stranger(), 'eight loud trumpets')).status).toBe(200);
});

test('a right password ends the row of wrong ones', async () => {
  const person = await join(service);
  await guess(person.email);
  await service.db.query(
    "UPDATE guess_budgets SET wrong_passwords = 98 WHERE network_mark = '' AND touched_at = (SELECT max(touched_at) FROM guess_budgets)",
  );
  const client = stranger();
  expect((await guess(person.email, client, password)).status).toBe(200);
  await guess(person.email);
  await guess(person.email);
  expect((await guess(person.email, stranger(), password)).status).toBe(200);
});

test('429: whoever holds a token guesses the password no more often either', async () => {
  const { client } = await join(service);
  const change = (current_password: string) =>
    client.call(changePassword, { body: { current_password, new_password: 'eight loud trumpets' } });
  const answers = await Promise.all(times(25).map(() => change('a wrong guess')));
  expect(statusesOf(answers)).toEqual({ 400: 20, 429: 5 });
  expect((await change(password)).status).toBe(429);
});

test('neither addresses nor clients are kept in plain text', async () => {
  const email = newEmail();
  await guess(email, service.client.with({ headers: { 'x-forwarded-for': '203.0.113.77' } }));
  const stored = JSON.stringify(await rows(service, 'SELECT * FROM guess_budgets'));
  expect(stored).not.toContain(email.split('@')[0]);
  expect(stored).not.toContain('203.0.113.77');
  expect(await count(service, 'guess_budgets')).toBeGreaterThan(0);
});
