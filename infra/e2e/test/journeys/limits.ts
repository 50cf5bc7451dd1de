import { login, signup } from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { fromSomewhere, newEmail, newOwner, type Platform, password } from '../support-platform.ts';

/** A login gets 503 if no worker becomes free in time to hash its password. */
const unavailable = 503;
const retryUnavailable = (attempt: () => Promise<number>) =>
  eventually(async () => {
    const status = await attempt();
    if (status === unavailable) throw new Error('Too many sign in at this moment');
    return status;
  });

/** The rate limits of one address. `successes` is how many logins are sent in sequence, and again in parallel. */
export function limitJourneys(on: () => Platform, { successes = 20 } = {}): void {
  const attempts = (count: number) => Array.from({ length: count });

  test('429: after ten failed logins the eleventh is refused, even with the right password', async () => {
    const { email } = await newOwner(on());
    const guesser = on().client.with({ headers: fromSomewhere() });
    for (const _ of attempts(10)) {
      expect((await guesser.call(login, { body: { email, password: 'a wrong guess' } })).status).toBe(401);
    }
    const eleventh = await guesser.call(login, { body: { email, password } });
    expect(eleventh.problem?.kind).toBe('rate-limited');
    expect(Number(eleventh.headers.get('retry-after'))).toBeGreaterThan(800);
    const elsewhere = on().client.with({ headers: fromSomewhere() });
    expect((await elsewhere.call(login, { body: { email, password } })).status).toBe(200);
  });

  test(`${successes} successful logins are not limited, neither in sequence nor in parallel`, async () => {
    const { email } = await newOwner(on());
    const person = on().client.with({ headers: fromSomewhere() });
    const once = async () => (await person.call(login, { body: { email, password } })).status;
    const goodLogin = () => (on().crowded ? retryUnavailable(once) : once());
    for (const _ of attempts(successes)) expect(await goodLogin()).toBe(200);
    expect(await Promise.all(attempts(successes).map(goodLogin))).toEqual(attempts(successes).fill(200));
  });

  test('429: of fifty parallel failing logins each gateway lets in ten at most', async () => {
    const { email } = await newOwner(on());
    const guesser = on().client.with({ headers: fromSomewhere() });
    const guess = async () => (await guesser.call(login, { body: { email, password: 'a wrong guess' } })).status;
    const statuses = await Promise.all(attempts(50).map(guess));
    const counted = (status: number) => statuses.filter((one) => one === status).length;
    if (!on().crowded) return expect([counted(401), counted(429)]).toEqual([10, 40]);
    for (const _ of attempts(20)) if (statuses.at(-1) !== 429) statuses.push(await guess());
    expect(counted(401)).toBeGreaterThanOrEqual(10);
    expect(counted(401)).toBeLessThanOrEqual(10 * on().gateways);
    expect(counted(401) + counted(429) + counted(unavailable)).toBe(statuses.length);
    expect(statuses.at(-1)).toBe(429);
  });

  test('429: the sixth sign-up within an hour is refused', async () => {
    const person = on().client.with({ headers: fromSomewhere() });
    const signUp = async () =>
      (await person.call(signup, { body: { email: newEmail(), password, full_name: 'Ada' } })).status;
    const statuses: number[] = [];
    for (const _ of attempts(6)) statuses.push(await signUp());
    expect(statuses).toEqual([202, 202, 202, 202, 202, 429]);
  });
}
