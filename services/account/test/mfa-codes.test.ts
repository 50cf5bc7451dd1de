import { createHash } from 'node:crypto';
import { disableMfa, getMe, renewRecoveryCodes } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newRecoveryCodes } from '../src/mfa/recovery-codes.ts';
import { addMembership, atOnce, count, enter, join, startAccountService, statusesOf } from './support.ts';
import {
  answer,
  beginSetup,
  challengeOf,
  enrol,
  joinWithMfa,
  nextCode,
  requireMfa,
  turnOff,
  wrongCode,
} from './support-mfa.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const renew = (client: TestService['client'], code: string) => client.call(renewRecoveryCodes, { body: { code } });
const opens = async (email: string, code: string) =>
  (await answer(service, await challengeOf(service, email), code)).status === 200;

describe('a recovery code', () => {
  test('is accepted in place of an authenticator’s code, in any spelling, and once', async () => {
    const { email, recoveryCodes } = await joinWithMfa(service);
    const [first = '', second = '', third = ''] = recoveryCodes;
    expect(await opens(email, first)).toBe(true);
    expect(await opens(email, first)).toBe(false);
    expect(await opens(email, second.toUpperCase())).toBe(true);
    expect(await opens(email, ` ${third.replaceAll('-', ' ')} `)).toBe(true);
    expect(await opens(email, third)).toBe(false);
  });

  test('does not work for another user', async () => {
    const [ada, bob] = [await joinWithMfa(service), await joinWithMfa(service)];
    expect(await opens(ada.email, bob.recoveryCodes[0] ?? '')).toBe(false);
    expect(await opens(bob.email, bob.recoveryCodes[0] ?? '')).toBe(true);
  });
});

test('a recovery code has 120 random bits: 24 characters, each of 32', () => {
  const codes = Array.from({ length: 40 }, newRecoveryCodes).flat();
  expect(codes.filter((code) => !/^[a-z2-9]{4}(-[a-z2-9]{4}){5}$/.test(code))).toEqual([]);
  expect(new Set(codes).size).toBe(400);
  expect(new Set(codes.join('').replaceAll('-', '')).size).toBe(32);
});

test('a recovery code of 80 bits, as they were made before, is accepted', async () => {
  const { email, userId } = await joinWithMfa(service);
  const hash = createHash('sha256').update('abcdefghjkmnpqrs').digest('hex');
  await service.db.query('INSERT INTO mfa_recovery_codes (user_id, code_hash) VALUES ($1, $2)', [userId, hash]);
  expect(await opens(email, 'abcd-efgh-jkmn-pqrs')).toBe(true);
});

describe('POST /v2/mfa/recovery-codes', () => {
  test('200: with a fresh code, ten new ones; the previous ones are invalid', async () => {
    const { client, email, secret, recoveryCodes } = await joinWithMfa(service);
    const { status, body } = await renew(client, nextCode(service, secret));
    expect([status, new Set(body.recovery_codes).size]).toEqual([200, 10]);
    expect(body.recovery_codes.filter((code) => recoveryCodes.includes(code))).toEqual([]);
    expect(await opens(email, recoveryCodes[0] ?? '')).toBe(false);
    expect(await opens(email, body.recovery_codes[0] ?? '')).toBe(true);
  });

  test('200: with a recovery code, which is spent', async () => {
    const { client, recoveryCodes } = await joinWithMfa(service);
    const [code = ''] = recoveryCodes;
    expect((await renew(client, code)).status).toBe(200);
    expect((await renew(client, code)).status).toBe(400);
  });

  test('20 at once with one code: one succeeds', async () => {
    const { client, secret, userId } = await joinWithMfa(service);
    const code = nextCode(service, secret);
    expect(statusesOf(await atOnce(() => renew(client, code)))).toEqual({ 200: 1, 400: 19 });
    expect(await count(service, 'mfa_recovery_codes', 'user_id = $1', userId)).toBe(10);
  });
});

describe('POST /v2/mfa/disable', () => {
  test('204: with a fresh code; the secret is deleted, and the next login needs no code', async () => {
    const { client, email, secret, userId } = await joinWithMfa(service);
    const { status, body } = await turnOff(client, nextCode(service, secret));
    expect([status, body]).toEqual([204, undefined]);
    expect((await client.call(getMe)).body.mfa_enabled).toBe(false);
    for (const table of ['mfa_enrolments', 'mfa_recovery_codes'])
      expect(await count(service, table, 'user_id = $1', userId)).toBe(0);
    await enter(service, email);
  });

  test('204: with a recovery code; MFA can be set up again', async () => {
    const person = await joinWithMfa(service);
    expect((await turnOff(person.client, person.recoveryCodes[0] ?? '')).status).toBe(204);
    const again = await enrol(service, person);
    expect(again.secret).not.toBe(person.secret);
    expect(await opens(person.email, nextCode(service, again.secret))).toBe(true);
  });

  test('204: an account that requires MFA does not matter if it is closed, or if the user is disabled in it', async () => {
    const { client, secret, userId } = await joinWithMfa(service);
    const closed = await addMembership(service, userId, { accountStatus: 'closed' });
    const disabled = await addMembership(service, userId, { status: 'disabled' });
    await service.db.query('UPDATE accounts SET require_mfa = true WHERE id = ANY($1)', [[closed, disabled]]);
    expect((await turnOff(client, nextCode(service, secret))).status).toBe(204);
  });

  test('20 at once with one code: one succeeds', async () => {
    const { client, secret } = await joinWithMfa(service);
    const code = nextCode(service, secret);
    const { 204: done, 400: wrong = 0, 409: off = 0 } = statusesOf(await atOnce(() => turnOff(client, code)));
    expect([done, wrong + off]).toEqual([1, 19]);
  });

  test('409: while the current account or another account of the user requires it', async () => {
    const person = await joinWithMfa(service);
    await requireMfa(person);
    const refused = await turnOff(person.client, nextCode(service, person.secret));
    expect(refused.problem).toMatchObject({ status: 409, detail: 'MFA is required by the account Ada Lovelace.' });
    await requireMfa(person, false);
    const other = await addMembership(service, person.userId);
    await service.db.query('UPDATE accounts SET require_mfa = true WHERE id = $1', [other]);
    const again = await turnOff(person.client, nextCode(service, person.secret));
    expect(again.problem?.detail).toBe('MFA is required by the account Another.');
    expect(await opens(person.email, nextCode(service, person.secret))).toBe(true);
  });

  test('409: while it is required of the user', async () => {
    const { client, secret, userId } = await joinWithMfa(service);
    await service.db.query('UPDATE users SET require_mfa = true WHERE id = $1', [userId]);
    expect((await turnOff(client, nextCode(service, secret))).problem).toMatchObject({
      status: 409,
      detail: 'MFA is required of you.',
    });
  });
});

describe.each([
  ['/v2/mfa/recovery-codes', renewRecoveryCodes],
  ['/v2/mfa/disable', disableMfa],
] as const)('POST %s', (_path, endpoint) => {
  const ask = (client: TestService['client'], code: unknown) => client.call(endpoint, { body: { code } as never });

  test('400: a wrong code changes nothing', async () => {
    const { client, email, secret, recoveryCodes } = await joinWithMfa(service);
    for (const code of [wrongCode(service, secret), 'aaaa-aaaa-aaaa-aaaa', newId('user').slice(0, 32)]) {
      const { problem } = await ask(client, code);
      expect(problem).toMatchObject({ status: 400, detail: 'body.code: is wrong, or was used before.' });
    }
    expect(await opens(email, recoveryCodes[9] ?? '')).toBe(true);
  });

  test('400: the code of the login is not accepted again', async () => {
    const { client, email, secret } = await joinWithMfa(service);
    const code = nextCode(service, secret);
    expect(await opens(email, code)).toBe(true);
    expect((await ask(client, code)).status).toBe(400);
  });

  test.each([
    ['is required', undefined],
    ['must be text', 123456],
    ['must be a code of the authenticator or a recovery code', '12345'],
  ])('400: body.code: %s', async (detail, code) => {
    const { client } = await join(service);
    expect((await ask(client, code)).problem).toMatchObject({ status: 400, detail: `body.code: ${detail}.` });
  });

  test('409: when MFA is not on, whether setup was begun or not', async () => {
    const { client } = await join(service);
    expect((await ask(client, '123456')).problem).toMatchObject({ status: 409, detail: 'MFA is not on.' });
    const secret = await beginSetup(client);
    expect((await ask(client, nextCode(service, secret))).problem).toMatchObject({ status: 409 });
  });
});
