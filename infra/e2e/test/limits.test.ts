import { login, signup } from '@attribution/contracts';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { fromSomewhere, newEmail, newOwner, password, startTestPlatform, type TestPlatform } from './support.ts';

let platform: TestPlatform;
beforeAll(async () => {
  platform = await startTestPlatform();
});
afterAll(() => platform.stop());

const attempts = (count: number) => Array.from({ length: count });

test('429: after ten failed logins the eleventh is refused, even with the right password', async () => {
  const { email } = await newOwner(platform);
  const guesser = platform.client.with({ headers: fromSomewhere() });
  for (const _ of attempts(10)) {
    expect((await guesser.call(login, { body: { email, password: 'a wrong guess' } })).status).toBe(401);
  }
  const eleventh = await guesser.call(login, { body: { email, password } });
  expect(eleventh.problem?.kind).toBe('rate-limited');
  expect(Number(eleventh.headers.get('retry-after'))).toBeGreaterThan(800);
  const elsewhere = platform.client.with({ headers: fromSomewhere() });
  expect((await elsewhere.call(login, { body: { email, password } })).status).toBe(200);
});

test('twenty good logins are not limited, one after the other and all at once', async () => {
  const { email } = await newOwner(platform);
  const person = platform.client.with({ headers: fromSomewhere() });
  const goodLogin = async () => (await person.call(login, { body: { email, password } })).status;
  for (const _ of attempts(20)) expect(await goodLogin()).toBe(200);
  expect(await Promise.all(attempts(20).map(goodLogin))).toEqual(attempts(20).fill(200));
});

test('429: fifty wrong logins at once let ten through', async () => {
  const { email } = await newOwner(platform);
  const guesser = platform.client.with({ headers: fromSomewhere() });
  const guess = async () => (await guesser.call(login, { body: { email, password: 'a wrong guess' } })).status;
  const statuses = await Promise.all(attempts(50).map(guess));
  expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  expect(statuses.filter((status) => status === 429)).toHaveLength(40);
});

test('429: the sixth sign-up of an hour is refused', async () => {
  const person = platform.client.with({ headers: fromSomewhere() });
  const signUp = async () =>
    (await person.call(signup, { body: { email: newEmail(), password, full_name: 'Ada' } })).status;
  const statuses: number[] = [];
  for (const _ of attempts(6)) statuses.push(await signUp());
  expect(statuses).toEqual([202, 202, 202, 202, 202, 429]);
});
