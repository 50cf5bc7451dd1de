import {
  acceptInvitation,
  changePassword,
  closeAccount,
  disableMfa,
  setUpMfa,
  switchAccount,
  transferOwnership,
} from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  atOnce,
  count,
  enter,
  join,
  type Person,
  password,
  refresh,
  requireSession,
  rows,
  startAccountService,
  statusesOf,
} from './support.ts';
import { auditRecordsOf } from './support-audit.ts';
import { holding, standing } from './support-locks.ts';
import { addMember, invite } from './support-members.ts';
import { enrol, nextCode, requireMfa, setupTokenOf, wrongCode } from './support-mfa.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

type Client = TestService['client'];
type Given = { password?: string; code?: string };

/** A person, and as long after the sign-in that it proves nothing any more. The access token is still good. */
async function joinedLongAgo(): Promise<Person> {
  const person = await join(service);
  service.clock.advance({ minutes: 10 });
  return person;
}

interface Act {
  readonly action: string;
  readonly done: number;
  attempt(client: Client, owner: Person, given?: Given): Promise<{ status: number; problem?: object | undefined }>;
  /** What the act has changed. */
  changes(owner: Person): Promise<number>;
}

const acts: Record<string, Act> = {
  'setting up MFA': {
    action: 'mfa.enabled',
    done: 200,
    attempt: (client, _owner, given) => client.call(setUpMfa, given && { body: given }),
    changes: ({ userId }) => count(service, 'mfa_enrolments', 'user_id = $1', userId),
  },
  'handing over an account': {
    action: 'account.handed_over',
    done: 204,
    attempt: async (client, owner, given) => {
      const [heir] = await rows<{ user_id: string }>(
        service,
        "SELECT user_id FROM memberships WHERE account_id = $1 AND role <> 'owner'",
        owner.accountId,
      );
      const user_id = heir?.user_id ?? (await addMember(service, { ...owner, client })).userId;
      return client.call(transferOwnership, { params: { id: owner.accountId }, body: { user_id, ...given } });
    },
    changes: ({ userId }) => count(service, 'memberships', "user_id = $1 AND role = 'admin'", userId),
  },
  'closing an account': {
    action: 'account.closed',
    done: 200,
    attempt: (client, { accountId }, given) =>
      client.call(closeAccount, { params: { id: accountId }, ...(given && { body: given }) }),
    changes: ({ accountId }) => count(service, 'accounts', "id = $1 AND status = 'closed'", accountId),
  },
};
const unproven = {
  status: 403,
  kind: 'forbidden',
  detail:
    'Prove that it is you: send your password, or a code where MFA is on, or log in again. This session was signed in more than 10 minutes ago.',
};

describe.each(Object.entries(acts))('%s', (_name, act) => {
  test('403: a session of 10 minutes ago is not enough, refreshed or switched to again; the refusal is recorded', async () => {
    const owner = await joinedLongAgo();
    const switched = await owner.client.call(switchAccount, { body: { account_id: owner.accountId } });
    const refreshed = await refresh(service, owner.session.refresh_token);
    const tokens = [requireSession(switched.body).access_token, refreshed.body.access_token];
    const clients = [owner.client, ...tokens.map((token) => service.client.with({ token }))];
    const records = await auditRecordsOf(service, async () => {
      for (const client of clients) expect((await act.attempt(client, owner)).problem).toMatchObject(unproven);
    });
    const refusal = { action: act.action, outcome: 'refused', actor_id: owner.userId };
    expect(records.filter(({ outcome }) => outcome === 'refused')).toMatchObject(
      clients.map(() => ({ ...refusal, details: { reason: 'no_fresh_proof' } })),
    );
    expect(await act.changes(owner)).toBe(0);
  });

  test('a session just signed in, or the password, is enough', async () => {
    const owner = await joinedLongAgo();
    expect((await act.attempt(owner.client, owner, { password })).status).toBe(act.done);
    expect(await act.changes(owner)).toBe(1);
    const other = await joinedLongAgo();
    const { access_token } = await enter(service, other.email);
    service.clock.advance({ minutes: 9 });
    expect((await act.attempt(service.client.with({ token: access_token }), other)).status).toBe(act.done);
  });

  test('403: a wrong password, by a fresh session too; the refusal is recorded without it', async () => {
    const owner = await join(service);
    const records = await auditRecordsOf(service, async () => {
      const { problem } = await act.attempt(owner.client, owner, { password: 'not the password' });
      expect(problem).toMatchObject({ status: 403, detail: 'body.password: is not your password.' });
    });
    expect(records.at(-1)).toMatchObject({
      action: act.action,
      outcome: 'refused',
      details: { reason: 'wrong_password' },
    });
    expect(JSON.stringify(records)).not.toContain('not the password');
    expect(await act.changes(owner)).toBe(0);
  });

  test('20 at once with the password: as many succeed as without it, and none is stuck', async () => {
    const owner = await joinedLongAgo();
    await act.attempt(owner.client, owner); // For those acts that need another user.
    const answers = await atOnce(() => act.attempt(owner.client, owner, { password }));
    const counts = statusesOf(answers);
    expect(Object.keys(counts).filter((status) => !['200', '204', '403', '409'].includes(status))).toEqual([]);
    expect(counts[act.done]).toBe(act.action === 'mfa.enabled' ? 20 : 1);
    expect(await act.changes(owner)).toBe(1);
  });

  test('403: the password that was right when it was checked, and was changed meanwhile', async () => {
    const owner = await joinedLongAgo();
    await act.attempt(owner.client, owner);
    const lock = { sql: "UPDATE users SET password_hash = 'another' WHERE id = $1", id: owner.userId };
    let late: ReturnType<Act['attempt']> | undefined;
    await holding(service, lock, async () => {
      late = act.attempt(owner.client, owner, { password });
      await standing(service, 1);
    });
    const problem = (await late)?.problem;
    expect(problem).toMatchObject({ status: 403, detail: expect.stringContaining('body.password') });
    expect(await act.changes(owner)).toBe(0);
  });
});

describe.each(Object.entries(acts).filter(([name]) => name !== 'setting up MFA'))('%s, with MFA', (_name, act) => {
  test('a code, or a recovery code, is enough, and is spent', async () => {
    for (const which of ['totp', 'recovery'] as const) {
      const owner = await enrol(service, await join(service));
      service.clock.advance({ minutes: 10 });
      const code = which === 'totp' ? nextCode(service, owner.secret) : (owner.recoveryCodes[0] ?? '');
      expect((await act.attempt(owner.client, owner, { code })).status).toBe(act.done);
      expect(await act.changes(owner)).toBe(1);
    }
  });

  test('403: a wrong code; 429: any after 20', async () => {
    const owner = await enrol(service, await join(service));
    await act.attempt(owner.client, owner, { code: wrongCode(service, owner.secret) });
    const code = wrongCode(service, owner.secret);
    const wrong = await act.attempt(owner.client, owner, { code });
    expect(wrong.problem).toMatchObject({ status: 403, detail: 'body.code: is wrong, or was used before.' });
    expect(statusesOf(await atOnce(() => act.attempt(owner.client, owner, { code })))).toEqual({ 403: 18, 429: 2 });
    const { problem } = await act.attempt(owner.client, owner, { code: nextCode(service, owner.secret) });
    expect(problem).toMatchObject({ status: 429, kind: 'rate-limited' });
    expect(await act.changes(owner)).toBe(0);
  });

  test('403: a code where MFA is off', async () => {
    const owner = await join(service);
    const { problem } = await act.attempt(owner.client, owner, { code: '123456' });
    expect(problem).toMatchObject({ status: 403, detail: 'body.code: MFA is not on. Send your password.' });
  });
});

test('403: a setup_token that an old session gets by a switch proves no more than that session', async () => {
  const owner = await joinedLongAgo();
  await requireMfa(owner);
  const { body } = await owner.client.call(switchAccount, { body: { account_id: owner.accountId } });
  if (!('setup_token' in body)) throw new Error('No setup token');
  const { setup_token } = body;
  expect((await service.client.call(setUpMfa, { body: { setup_token } })).problem).toMatchObject(unproven);
  const proven = await service.client.call(setUpMfa, { body: { setup_token, password } });
  expect(proven.status).toBe(200);
});

test('403: a session that an old session opens by accepting an invitation proves no more than that session', async () => {
  const guest = await joinedLongAgo();
  const { token } = await invite(service, await join(service), { email: guest.email });
  const accepted = await guest.client.call(acceptInvitation, { body: { token } });
  const { access_token } = requireSession(accepted.body);
  const { problem } = await service.client.with({ token: access_token }).call(setUpMfa);
  expect(problem).toMatchObject(unproven);
});

test('a newcomer who has accepted an invitation, and a setup_token of a login, need no other proof', async () => {
  const owner = await join(service);
  const newcomer = await addMember(service, owner);
  expect((await newcomer.client.call(setUpMfa)).status).toBe(200);
  await requireMfa(owner);
  const setup_token = await setupTokenOf(service, owner.email);
  service.clock.advance({ minutes: 10 });
  expect((await service.client.call(setUpMfa, { body: { setup_token } })).status).toBe(200);
});

test('what can be refused without a proof is refused before the password is looked at', async () => {
  const owner = await joinedLongAgo();
  const member = await addMember(service, owner);
  const wrong = { password: 'not the password' };
  const params = { id: owner.accountId };
  const statuses = await Promise.all([
    owner.client.call(transferOwnership, { params, body: { user_id: owner.userId, ...wrong } }),
    member.client.call(closeAccount, { params, body: wrong }),
  ]);
  expect(statuses.map(({ status }) => status)).toEqual([409, 403]);
  const records = await rows(
    service,
    "SELECT details FROM audit_log WHERE account_id = $1 AND details->>'reason' = 'wrong_password'",
    owner.accountId,
  );
  expect(records).toEqual([]);
});

test('400: a fresh session alone neither changes the password nor turns MFA off', async () => {
  const { client } = await enrol(service, await join(service));
  const body = { new_password: 'eight loud trumpets' };
  const details = await Promise.all([
    client.call(changePassword, { body: body as never }),
    client.call(disableMfa, { body: {} as never }),
  ]);
  expect(details.map(({ problem }) => problem?.detail)).toEqual([
    'body.current_password: is required.',
    'body.code: is required.',
  ]);
});

test.each([
  ['body.password: must be text.', { password: 7 }],
  ['body.code: must be a code of the authenticator or a recovery code.', { code: '1' }],
])('400: %s', async (detail, body) => {
  const owner = await join(service);
  const params = { id: owner.accountId };
  const { problem } = await owner.client.call(closeAccount, { params, body: body as never });
  expect(problem).toMatchObject({ status: 400, detail });
});
