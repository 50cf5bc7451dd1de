import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atOnce, count, logIn, startAccountService, statusesOf } from './support.ts';
import {
  answer,
  challengeOf,
  codeAt,
  type Enrolled,
  joinWithMfa,
  nextCode,
  turnOff,
  wrongCode,
} from './support-mfa.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const openSessions = ({ userId }: Enrolled) => count(service, 'sessions', 'user_id = $1 AND ended_at IS NULL', userId);
const challengesOf = async ({ email }: Enrolled, number: number) => {
  const challenges: string[] = [];
  while (challenges.length < number) challenges.push(await challengeOf(service, email));
  return challenges;
};

test('five wrong codes exhaust a challenge: the sixth attempt is refused even if it is right', async () => {
  const person = await joinWithMfa(service);
  const challenge = await challengeOf(service, person.email);
  for (let i = 0; i < 5; i++)
    expect((await answer(service, challenge, wrongCode(service, person.secret))).status).toBe(400);
  const right = nextCode(service, person.secret);
  expect((await answer(service, challenge, right)).problem?.kind).toBe('unauthorized');
  expect((await answer(service, await challengeOf(service, person.email), right)).status).toBe(200);
});

test('the fifth attempt may be the right one', async () => {
  const person = await joinWithMfa(service);
  const challenge = await challengeOf(service, person.email);
  for (let i = 0; i < 4; i++) await answer(service, challenge, wrongCode(service, person.secret));
  expect((await answer(service, challenge, nextCode(service, person.secret))).status).toBe(200);
});

test('20 wrong codes at once for one challenge: five are checked', async () => {
  const person = await joinWithMfa(service);
  const challenge = await challengeOf(service, person.email);
  const code = wrongCode(service, person.secret);
  expect(statusesOf(await atOnce(() => answer(service, challenge, code)))).toEqual({ 400: 5, 401: 15 });
});

test('20 uses of one code at once for one challenge: one opens a session', async () => {
  const person = await joinWithMfa(service);
  const challenge = await challengeOf(service, person.email);
  const code = nextCode(service, person.secret);
  const before = await openSessions(person);
  const statuses = statusesOf(await atOnce(() => answer(service, challenge, code)));
  expect(statuses[200]).toBe(1);
  expect((statuses[400] ?? 0) + (statuses[401] ?? 0)).toBe(19);
  expect(await openSessions(person)).toBe(before + 1);
});

test('20 uses of one code at once, each with its own challenge: its time step is accepted once', async () => {
  const person = await joinWithMfa(service);
  const challenges = await challengesOf(person, 20);
  const code = nextCode(service, person.secret);
  const before = await openSessions(person);
  const answers = await atOnce((i) => answer(service, challenges[i] ?? '', code));
  expect(statusesOf(answers)).toEqual({ 200: 1, 400: 19 });
  expect(await openSessions(person)).toBe(before + 1);
});

test('20 uses of one recovery code at once, each with its own challenge: one succeeds', async () => {
  const person = await joinWithMfa(service);
  const challenges = await challengesOf(person, 20);
  const [code = ''] = person.recoveryCodes;
  const answers = await atOnce((i) => answer(service, challenges[i] ?? '', code));
  expect(statusesOf(answers)).toEqual({ 200: 1, 400: 19 });
  expect(await count(service, 'mfa_recovery_codes', 'user_id = $1 AND used_at IS NOT NULL', person.userId)).toBe(1);
});

test('20 recovery codes and codes at once: one challenge opens one session, and spends one code', async () => {
  const person = await joinWithMfa(service);
  const challenge = await challengeOf(service, person.email);
  const before = await openSessions(person);
  const answers = await atOnce((i) => answer(service, challenge, person.recoveryCodes[i % 10] ?? ''));
  expect(statusesOf(answers)[200]).toBe(1);
  expect(await openSessions(person)).toBe(before + 1);
  expect(await count(service, 'mfa_recovery_codes', 'user_id = $1 AND used_at IS NOT NULL', person.userId)).toBe(1);
});

test('429: of 25 challenges of one user at once 20 wrong codes are checked, and then none for a while', async () => {
  const person = await joinWithMfa(service);
  const challenges = await challengesOf(person, 25);
  const code = wrongCode(service, person.secret);
  const answers = await Promise.all(challenges.map((challenge) => answer(service, challenge, code)));
  expect(statusesOf(answers)).toEqual({ 400: 20, 429: 5 });
  expect((await logIn(service, person.email)).status).toBe(429);

  service.clock.advance({ minutes: 1 });
  const later = await answer(service, await challengeOf(service, person.email), nextCode(service, person.secret));
  expect(later.status).toBe(200);
});

test('one user’s wrong codes do not count for another', async () => {
  const [ada, bob] = [await joinWithMfa(service), await joinWithMfa(service)];
  const code = wrongCode(service, ada.secret);
  for (const challenge of await challengesOf(ada, 20)) await answer(service, challenge, code);
  const { status } = await answer(service, await challengeOf(service, bob.email), nextCode(service, bob.secret));
  expect(status).toBe(200);
});

test('right codes are not counted: a user who signs in often is not locked out', async () => {
  const person = await joinWithMfa(service);
  for (let i = 0; i < 22; i++) {
    const challenge = await challengeOf(service, person.email);
    expect((await answer(service, challenge, nextCode(service, person.secret))).status).toBe(200);
  }
});

test('wrong codes in a session and for challenges are counted together', async () => {
  const person = await joinWithMfa(service);
  const challenge = await challengeOf(service, person.email);
  const code = wrongCode(service, person.secret);
  expect(statusesOf(await atOnce(() => turnOff(person.client, code)))).toEqual({ 400: 20 });
  const { problem } = await turnOff(person.client, codeAt(person.secret, service.clock.now()));
  expect(problem).toMatchObject({ status: 429, kind: 'rate-limited' });
  expect((await answer(service, challenge, codeAt(person.secret, service.clock.now()))).status).toBe(429);
});
