import { getMe, logout, setUpMfa, verifyMfaSetup } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createVault } from '../src/vault.ts';
import { atOnce, claimsIn, count, enter, join, refresh, rows, startAccountService, statusesOf } from './support.ts';
import { answer, beginSetup, challengeOf, codeAt, joinWithMfa, nextCode, wrongCode } from './support-mfa.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const verify = (client: TestService['client'], code: string) => client.call(verifyMfaSetup, { body: { code } });
const storedSecret = async (userId: string) => {
  const [row] = await rows<{ secret: Buffer }>(service, 'SELECT secret FROM mfa_enrolments WHERE user_id = $1', userId);
  return row?.secret ?? Buffer.alloc(0);
};
const vaultOf = (...keys: number[]) => createVault(keys.map((byte) => Buffer.alloc(32, byte).toString('base64')));

test('200: a secret and its URI for an authenticator; logins need no code until it is confirmed', async () => {
  const { client, email } = await join(service);
  const { status, body } = await client.call(setUpMfa);
  expect([status, Object.keys(body).sort()]).toEqual([200, ['otpauth_uri', 'secret']]);
  const uri = new URL(body.otpauth_uri);
  expect(uri.searchParams.get('secret')).toBe(body.secret);
  expect(decodeURIComponent(uri.pathname)).toContain(email);
  expect((await client.call(getMe)).body.mfa_enabled).toBe(false);
  await enter(service, email);
});

test('200: a second setup gives a new secret, and the previous one no longer works', async () => {
  const { client } = await join(service);
  const first = await beginSetup(client);
  const second = await beginSetup(client);
  expect(second).not.toBe(first);
  expect((await verify(client, nextCode(service, first))).status).toBe(400);
  expect((await verify(client, nextCode(service, second))).status).toBe(200);
});

test('200: the right code turns MFA on and returns ten recovery codes; the next login requires a code', async () => {
  const { client, email } = await join(service);
  const secret = await beginSetup(client);
  const { status, body } = await verify(client, nextCode(service, secret));
  expect([status, Object.keys(body)]).toEqual([200, ['recovery_codes']]);
  expect(new Set(body.recovery_codes).size).toBe(10);
  for (const code of body.recovery_codes) expect(code).toMatch(/^([a-km-np-z2-9]{4}-){5}[a-km-np-z2-9]{4}$/);
  expect((await client.call(getMe)).body.mfa_enabled).toBe(true);
  const challenge = await challengeOf(service, email);
  expect((await answer(service, challenge, nextCode(service, secret))).status).toBe(200);
});

test('the code that turned MFA on is spent: a login does not accept it', async () => {
  const { client, email } = await join(service);
  const secret = await beginSetup(client);
  const code = nextCode(service, secret);
  await verify(client, code);
  expect((await answer(service, await challengeOf(service, email), code)).status).toBe(400);
});

test('turning MFA on ends the user’s other sessions, which have not passed it, and keeps the one that did', async () => {
  const person = await join(service);
  const other = await enter(service, person.email);
  const secret = await beginSetup(person.client);
  await verify(person.client, nextCode(service, secret));
  expect((await refresh(service, other.refresh_token)).status).toBe(401);
  expect((await refresh(service, person.session.refresh_token)).status).toBe(200);
  const { sid } = claimsIn(service, other.access_token);
  expect(await rows(service, 'SELECT end_reason FROM sessions WHERE id = $1', sid)).toEqual([
    { end_reason: 'mfa_enabled' },
  ]);
});

test('20 confirmations at once: one turns MFA on, and its recovery codes are the valid ones', async () => {
  const { client, email } = await join(service);
  const secret = await beginSetup(client);
  const code = nextCode(service, secret);
  const answers = await atOnce(() => verify(client, code));
  expect(statusesOf(answers)).toEqual({ 200: 1, 409: 19 });
  const [recovery = ''] = answers.find(({ status }) => status === 200)?.body.recovery_codes ?? [];
  expect((await answer(service, await challengeOf(service, email), recovery)).status).toBe(200);
});

test('the secret is encrypted for its user only, and recovery codes are hashed', async () => {
  const { secret, userId, recoveryCodes } = await joinWithMfa(service);
  const stored = await storedSecret(userId);
  expect(stored.includes(Buffer.from(secret))).toBe(false);
  expect(vaultOf(7).decrypt(stored, `totp:${userId}`)).toBe(secret);
  expect(() => vaultOf(7).decrypt(stored, 'totp:usr_other')).toThrow();
  const hashes = await rows<{ code_hash: string }>(
    service,
    'SELECT code_hash FROM mfa_recovery_codes WHERE user_id = $1',
    userId,
  );
  expect(hashes).toHaveLength(10);
  for (const { code_hash } of hashes) {
    expect(code_hash).toMatch(/^[0-9a-f]{64}$/);
    expect(recoveryCodes).not.toContain(code_hash);
  }
});

test('a new first key encrypts new secrets, and old secrets are still readable', async () => {
  const [older, newer] = [7, 8].map((byte) => Buffer.alloc(32, byte).toString('base64'));
  const rotated = await startAccountService({ SECRET_KEYS: `${newer},${older}` });
  try {
    const { secret, userId, email } = await joinWithMfa(rotated);
    const read = 'SELECT secret FROM mfa_enrolments WHERE user_id = $1';
    const [{ secret: sealed } = { secret: Buffer.alloc(0) }] = await rows<{ secret: Buffer }>(rotated, read, userId);
    expect(vaultOf(8).decrypt(sealed, `totp:${userId}`)).toBe(secret);
    expect(() => vaultOf(7).decrypt(sealed, `totp:${userId}`)).toThrow('key that is not configured');
    // As it would have been written before the rotation.
    const before = vaultOf(7).encrypt(secret, `totp:${userId}`);
    await rotated.db.query('UPDATE mfa_enrolments SET secret = $2 WHERE user_id = $1', [userId, before]);
    expect((await answer(rotated, await challengeOf(rotated, email), nextCode(rotated, secret))).status).toBe(200);
  } finally {
    await rotated.stop();
  }
});

test.each([
  ['body.code: is required.', {}],
  ['body.code: must be the 6 digits of the authenticator.', { code: 'abcd-efgh-ijkm-npqr' }],
  ['body.code: must be text.', { code: 123456 }],
])('400: %s', async (detail, body) => {
  const { client } = await join(service);
  const { problem } = await client.call(verifyMfaSetup, { body: body as never });
  expect(problem).toMatchObject({ status: 400, kind: 'validation-error', detail });
});

test('400: a setup_token that is not a string', async () => {
  const { problem } = await service.client.call(setUpMfa, { body: { setup_token: 7 } as never });
  expect(problem).toMatchObject({ status: 400, detail: 'body.setup_token: must be text.' });
});

test('400: a wrong code changes nothing, and the right one is accepted afterwards', async () => {
  const { client, userId } = await join(service);
  const secret = await beginSetup(client);
  const { problem } = await verify(client, wrongCode(service, secret));
  expect(problem).toMatchObject({ status: 400, detail: 'body.code: is not the code that the authenticator shows.' });
  expect(await count(service, 'mfa_recovery_codes', 'user_id = $1', userId)).toBe(0);
  expect((await verify(client, nextCode(service, secret))).status).toBe(200);
});

test('401: without a session and without a setup_token', async () => {
  for (const { problem } of [await service.client.call(setUpMfa), await verify(service.client, '123456')])
    expect(problem).toMatchObject({ status: 401, detail: 'Sign in, or give the setup_token of a login.' });
});

test('401: a session that has ended cannot set up MFA, though its token still works elsewhere', async () => {
  const { client } = await join(service);
  const secret = await beginSetup(client);
  await client.call(logout);
  expect((await client.call(getMe)).status).toBe(200);
  const ended = { status: 401, detail: 'This session has ended. Log in again.' };
  expect((await client.call(setUpMfa)).problem).toMatchObject(ended);
  expect((await verify(client, codeAt(secret, service.clock.now()))).problem).toMatchObject(ended);
});

test('401: a user who is disabled or deleted', async () => {
  const { client, userId } = await join(service);
  await service.db.query('UPDATE users SET disabled_at = now() WHERE id = $1', [userId]);
  const stranger = service.client.with({ token: personToken({ sid: newUuid() }) });
  for (const caller of [client, stranger]) {
    const detail = 'This user is disabled or does not exist any more.';
    expect((await caller.call(setUpMfa)).problem).toMatchObject({ status: 401, detail });
    expect((await verify(caller, '123456')).problem).toMatchObject({ status: 401, detail });
  }
});

test('409: when MFA is on, and when there is nothing to confirm', async () => {
  const { client, secret } = await joinWithMfa(service);
  const on = { status: 409, detail: 'MFA is on already: turn it off first.' };
  expect((await client.call(setUpMfa)).problem).toMatchObject(on);
  expect((await verify(client, nextCode(service, secret))).problem).toMatchObject(on);
  const other = await join(service);
  expect((await verify(other.client, '123456')).problem).toMatchObject({
    status: 409,
    detail: 'There is nothing to prove: begin with POST /v2/mfa/setup.',
  });
});
