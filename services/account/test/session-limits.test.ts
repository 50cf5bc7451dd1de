import { createApiKey, exchangeApiKey, getAccount, switchAccount } from '@attribution/contracts';
import { supportToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  addMembership,
  claimsIn,
  enter,
  join,
  logIn,
  type Person,
  refresh,
  requireSession,
  rows,
  startAccountService,
} from './support.ts';
import { acceptAs, addMember, invite } from './support-members.ts';
import { enrol, joinWithMfa, nextCode, requireMfa, turnOff } from './support-mfa.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const withToken = (token: string) => service.client.with({ token });
const switchTo = async (accessToken: string, account_id: string) =>
  withToken(accessToken).call(switchAccount, { body: { account_id } });

/** Refreshes the session until it is 87 days old. Returns the latest tokens. */
async function growOld({ session }: Person) {
  let tokens: { access_token: string; refresh_token: string } = session;
  for (let i = 0; i < 3; i++) {
    service.clock.advance({ days: 29 });
    tokens = (await refresh(service, tokens.refresh_token)).body;
  }
  return tokens;
}

const endReasonOf = async (accessToken: string) => {
  const { sid } = claimsIn(service, accessToken);
  return (await rows<{ end_reason: string | null }>(service, 'SELECT end_reason FROM sessions WHERE id = $1', sid))[0]
    ?.end_reason;
};

test('API keys and support sessions know no MFA, and work in an account that requires it', async () => {
  const owner = await joinWithMfa(service);
  const { body: key } = await owner.client.call(createApiKey, { body: { name: 'Nightly export' } });
  await requireMfa(owner);
  const headers = { 'x-access-key-id': key.access_key_id, 'x-access-key-secret': key.access_key_secret };
  expect((await service.client.call(exchangeApiKey, { headers })).status).toBe(200);
  const support = withToken(supportToken({ account: owner.accountId }));
  expect((await support.call(getAccount, { params: { id: owner.accountId } })).status).toBe(200);
});

test('a session lasts 90 days from its sign-in, also when the account is switched or an invitation accepted', async () => {
  const [person, inviter] = [await join(service), await join(service)];
  const other = await addMembership(service, person.userId);
  const old = await growOld(person);
  const session = await enter(service, inviter.email);
  const { token } = await invite(service, { client: withToken(session.access_token) }, { email: person.email });
  const continued = [
    requireSession((await switchTo(old.access_token, other)).body),
    requireSession((await acceptAs(withToken(old.access_token), token)).body),
  ];
  service.clock.advance({ days: 2, minutes: 23 * 60 + 59 });
  const last = await Promise.all(continued.map(({ refresh_token }) => refresh(service, refresh_token)));
  expect(last.map(({ status }) => status)).toEqual([200, 200]);
  service.clock.advance({ minutes: 1 });
  // The access tokens work for some minutes more, but open nothing that lasts.
  for (const { body } of last) {
    expect((await switchTo(body.access_token, other)).status).toBe(401);
    expect((await refresh(service, body.refresh_token)).status).toBe(401);
  }
});

test('401: when an account requires MFA, sessions without it end at their next refresh, and the next login enrols', async () => {
  const owner = await join(service);
  const member = await addMember(service, owner);
  const elsewhere = await enter(service, owner.email);
  await requireMfa(owner);
  for (const { refresh_token, access_token } of [owner.session, member.session, elsewhere]) {
    expect((await refresh(service, refresh_token)).problem).toMatchObject({ status: 401, kind: 'unauthorized' });
    expect(await endReasonOf(access_token)).toBe('mfa_required');
    expect((await switchTo(access_token, owner.accountId)).status).toBe(401);
  }
  expect((await logIn(service, member.email)).body).toMatchObject({ mfa_setup_required: true });
  const [record] = await rows(
    service,
    `SELECT action, actor_type, details FROM audit_log WHERE subject_id = $1 ORDER BY id DESC LIMIT 1`,
    `rt_${claimsIn(service, member.session.access_token).sid}`,
  );
  expect(record).toMatchObject({ action: 'session.ended', details: { reason: 'mfa_required' } });
});

test('401: who refreshes, signs in or switches at the moment at which MFA is required has that session until its next refresh', async () => {
  const owner = await join(service);
  const people = await Promise.all(Array.from({ length: 8 }, () => addMember(service, owner)));
  const trying = ({ session, email }: Person) => [
    refresh(service, session.refresh_token),
    logIn(service, email),
    switchTo(session.access_token, owner.accountId),
  ];
  const before = people.slice(0, 4).flatMap(trying);
  const requiring = requireMfa(owner);
  const answers = await Promise.all([...before, ...people.slice(4).flatMap(trying)]);
  expect((await requiring).status).toBe(200);
  const bodies: readonly object[] = answers.flatMap((one) => (one.status === 200 ? [one.body] : []));
  const opened = bodies.flatMap((body) => ('refresh_token' in body ? [String(body.refresh_token)] : []));
  const earlier = people.map(({ session }) => session.refresh_token);
  for (const token of [...opened, ...earlier]) expect((await refresh(service, token)).status).toBe(401);
});

test('401: the same when MFA is required of the user', async () => {
  const { session, userId } = await join(service);
  await service.db.query('UPDATE users SET require_mfa = true WHERE id = $1', [userId]);
  expect((await refresh(service, session.refresh_token)).status).toBe(401);
  expect(await endReasonOf(session.access_token)).toBe('mfa_required');
});

test('200: a session that has passed MFA continues: by a login, by its own set-up, and by a switch from one of these', async () => {
  const person = await joinWithMfa(service);
  const other = await addMembership(service, person.userId);
  await requireMfa(person);
  await service.db.query('UPDATE accounts SET require_mfa = true WHERE id = $1', [other]);
  const switched = requireSession((await switchTo(person.session.access_token, other)).body);
  for (const { refresh_token } of [person.session, switched])
    expect((await refresh(service, refresh_token)).status).toBe(200);
});

test('401: a session from the time before MFA was turned off has not passed what is required now', async () => {
  const person = await joinWithMfa(service);
  await turnOff(person.client, nextCode(service, person.secret));
  await requireMfa(person);
  expect((await refresh(service, person.session.refresh_token)).status).toBe(401);
});

test('200: the session that turns MFA on again continues', async () => {
  const person = await joinWithMfa(service);
  await turnOff(person.client, nextCode(service, person.secret));
  await enrol(service, person);
  await requireMfa(person);
  expect((await refresh(service, person.session.refresh_token)).status).toBe(200);
});
