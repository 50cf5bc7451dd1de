import {
  changePassword,
  closeAccount,
  endSession,
  logout,
  renewRecoveryCodes,
  resetPassword,
  signup,
  transferOwnership,
  updateAccount,
  updateMe,
} from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  atOnce,
  claimsIn,
  enter,
  join,
  newEmail,
  password,
  resetCode,
  rows,
  type SignedUp,
  signUp,
  startAccountService,
  wrong,
} from './support.ts';
import { auditRecordsOf } from './support-audit.ts';
import { addMember } from './support-members.ts';
import { enrol, joinWithMfa, nextCode, requireMfa, turnOff, wrongCode } from './support-mfa.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const newPassword = 'eight loud trumpets';
const done = (action: string, person: { userId: string; accountId: string }, more: object = {}) => ({
  account_id: person.accountId,
  action,
  outcome: 'done',
  actor_type: 'person',
  actor_id: person.userId,
  subject_id: person.userId,
  ...more,
});

test('a sign-up is recorded in its new account with its new user as the actor; a refused one is not recorded', async () => {
  const email = newEmail();
  const made: { person?: SignedUp } = {};
  const records = await auditRecordsOf(service, async () => {
    made.person = await signUp(service, email);
    expect((await service.client.call(signup, { body: { email, password, full_name: 'Eve' } })).status).toBe(409);
  });
  const { person = { userId: '', accountId: '' } } = made;
  const record = { subject_id: person.accountId, ip: '127.0.0.1', details: { account_type: 'network' } };
  expect(records).toMatchObject([done('account.created', person, record)]);
});

test('a change of the password is recorded with the sessions that it ended, and a refused one too', async () => {
  const person = await join(service);
  await enter(service, person.email);
  const change = (current_password: string) =>
    person.client.call(changePassword, { body: { current_password, new_password: newPassword } });
  const records = await auditRecordsOf(service, async () => {
    await change('not the password');
    await change(password);
  });
  const action = 'user.password_changed';
  expect(records).toMatchObject([
    done(action, person, { outcome: 'refused', details: { reason: 'wrong_password' } }),
    done(action, person, { details: { sessions_ended: 1 } }),
  ]);
});

test('a password reset is recorded, and so are refused attempts, also for an unknown address', async () => {
  const person = await join(service);
  const code = await resetCode(service, person.email);
  const reset = (given: string, email = person.email) =>
    service.client.call(resetPassword, { body: { email, code: given, new_password: newPassword } });
  const records = await auditRecordsOf(service, async () => {
    await reset(wrong(code));
    await reset(code);
    await reset(code);
    await reset(code, newEmail());
  });
  const action = 'user.password_reset';
  const refused = { outcome: 'refused', actor_type: 'unknown', actor_id: null };
  expect(records).toMatchObject([
    done(action, person, { ...refused, details: { reason: 'wrong_code' } }),
    done(action, person, { details: { sessions_ended: 1 } }),
    done(action, person, { ...refused, details: { reason: 'dead_code' } }),
    { ...refused, action, account_id: null, subject_id: null, details: { reason: 'wrong_code' } },
  ]);
  expect(records[3]?.details.address_mark).toEqual(expect.any(String));
});

test('turning MFA on, renewing recovery codes and turning MFA off are recorded, with refusals of the latter two', async () => {
  const person = await join(service);
  const { client } = person;
  const records = await auditRecordsOf(service, async () => {
    const { secret, recoveryCodes } = await enrol(service, person);
    await client.call(renewRecoveryCodes, { body: { code: wrongCode(service, secret) } });
    await client.call(renewRecoveryCodes, { body: { code: recoveryCodes[0] ?? '' } });
    await turnOff(client, wrongCode(service, secret));
    await turnOff(client, nextCode(service, secret));
  });
  const refused = { outcome: 'refused', details: { reason: 'wrong_mfa_code' } };
  expect(records).toMatchObject([
    done('mfa.enabled', person),
    done('mfa.recovery_codes_renewed', person, refused),
    done('mfa.recovery_codes_renewed', person, { details: { via: 'recovery_code' } }),
    done('mfa.disabled', person, refused),
    done('mfa.disabled', person, { details: { via: 'mfa_code' } }),
  ]);
});

test('an action that did not happen is not recorded as done: required MFA stays on', async () => {
  const person = await joinWithMfa(service);
  await requireMfa(person);
  const records = await auditRecordsOf(service, () => turnOff(person.client, nextCode(service, person.secret)));
  expect(records).toEqual([]);
});

test('sessions ended by logout or by id are recorded once each', async () => {
  const person = await join(service);
  const [one, two] = [await enter(service, person.email), await enter(service, person.email)];
  const idOf = (token: string) => `rt_${claimsIn(service, token).sid}`;
  const out = service.client.with({ token: one.access_token });
  const id = idOf(two.access_token);
  const records = await auditRecordsOf(service, async () => {
    await atOnce(() => out.call(logout));
    await atOnce(() => person.client.call(endSession, { params: { id } }));
  });
  expect(records).toMatchObject([
    done('session.ended', person, { subject_id: idOf(one.access_token), details: { reason: 'logout' } }),
    done('session.ended', person, { subject_id: id, details: { reason: 'ended_by_user' } }),
  ]);
});

test('changes of the user and of the account’s settings are recorded with the new values', async () => {
  const person = await join(service);
  const { client, accountId } = person;
  const change = (body: object) => client.call(updateAccount, { params: { id: accountId }, body });
  const records = await auditRecordsOf(service, async () => {
    await client.call(updateMe, { body: { full_name: 'Ada King' } });
    await change({ name: 'King & Co.', require_mfa: true });
    await change({ name: 'King & Co.', require_mfa: false });
  });
  const changed = (details: object) => done('account.changed', person, { subject_id: accountId, details });
  expect(records).toMatchObject([
    done('user.changed', person, { details: { fields: ['full_name'] } }),
    changed({ name: 'King & Co.', require_mfa: true }),
    changed({ require_mfa: false }),
  ]);
  expect(records[2]?.details).toEqual({ require_mfa: false });
});

test('a transfer of ownership and a closure are recorded, with the sessions that ended', async () => {
  const owner = await join(service);
  const heir = await addMember(service, owner);
  const params = { id: owner.accountId };
  const handed = await auditRecordsOf(service, () =>
    owner.client.call(transferOwnership, { params, body: { user_id: heir.userId } }),
  );
  expect(handed).toMatchObject([
    done('account.handed_over', owner, { subject_id: heir.userId, details: { from: owner.userId } }),
  ]);
  const { access_token } = await enter(service, heir.email);
  const closed = await auditRecordsOf(service, () =>
    service.client.with({ token: access_token }).call(closeAccount, { params }),
  );
  expect(closed).toMatchObject([
    done('account.closed', heir, { subject_id: owner.accountId, details: { sessions_ended: 1 } }),
  ]);
});

test('an action whose record cannot be written is not done', async () => {
  const { client, email, userId } = await join(service);
  await service.db.query('ALTER TABLE audit_log RENAME COLUMN action TO gone');
  try {
    const body = { current_password: password, new_password: newPassword };
    expect((await client.call(changePassword, { body })).status).toBe(503);
    expect((await client.call(updateMe, { body: { full_name: 'Eve' } })).status).toBe(503);
    expect((await client.call(logout)).status).toBe(503);
  } finally {
    await service.db.query('ALTER TABLE audit_log RENAME COLUMN gone TO action');
  }
  await enter(service, email);
  expect(await rows(service, 'SELECT full_name FROM users WHERE id = $1', userId)).toEqual([
    { full_name: 'Ada Lovelace' },
  ]);
  expect(await rows(service, 'SELECT 1 FROM sessions WHERE user_id = $1 AND ended_at IS NOT NULL', userId)).toEqual([]);
});
