import { changePassword, resetPassword, verifyMfaSetup } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  atOnce,
  enter,
  join,
  type Person,
  password,
  refresh,
  requireSession,
  resetCode,
  rows,
  startAccountService,
} from './support.ts';
import { eventsLock, holding, standing } from './support-locks.ts';
import { acceptAs, invite } from './support-members.ts';
import { beginSetup, nextCode } from './support-mfa.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

type Prepare = (person: Person) => Promise<() => Promise<{ status: number }>>;

const newPassword = 'eight loud trumpets';

const reset: Prepare = async ({ email }) => {
  const code = await resetCode(service, email);
  return () => service.client.call(resetPassword, { body: { email, code, new_password: newPassword } });
};

/** Signs the user in again: this session requests the action that ends all others. */
async function elsewhere({ email }: Person) {
  const { access_token } = await enter(service, email);
  return service.client.with({ token: access_token });
}

const change: Prepare = async (person) => {
  const client = await elsewhere(person);
  return () => client.call(changePassword, { body: { current_password: password, new_password: newPassword } });
};

const enrolment: Prepare = async (person) => {
  const client = await elsewhere(person);
  const code = nextCode(service, await beginSetup(client));
  return () => client.call(verifyMfaSetup, { body: { code } });
};

const endings: [what: string, prepare: Prepare, reason: string][] = [
  ['password reset', reset, 'password_reset'],
  ['password change', change, 'password_changed'],
  ['start of MFA', enrolment, 'mfa_enabled'],
];

/** The reasons why a user's sessions in an account have ended; null for one that has not. */
const endingsIn = async (userId: string, accountId: string) =>
  rows(service, 'SELECT end_reason FROM sessions WHERE user_id = $1 AND account_id = $2', userId, accountId);

test.each(endings)(
  'a session that an invitation opens does not outlive a concurrent %s',
  async (_what, prepare, reason) => {
    const [owner, bob] = [await join(service), await join(service)];
    const end = await prepare(bob);
    const { token } = await invite(service, owner, { email: bob.email });
    const started: { accept?: ReturnType<typeof acceptAs>; end?: Promise<{ status: number }> } = {};
    // The acceptance waits before it appends its event: the caller's session is open, and the new one is not written
    // yet.
    await holding(service, eventsLock(owner.accountId), async () => {
      started.accept = acceptAs(bob.client, token);
      await standing(service, 1);
      started.end = end();
      await standing(service, 2);
    });
    expect((await started.end)?.status).toBeLessThan(300);
    const { refresh_token } = requireSession((await started.accept)?.body ?? {});
    expect((await refresh(service, refresh_token)).status).toBe(401);
    expect(await endingsIn(bob.userId, owner.accountId)).toEqual([{ end_reason: reason }]);
  },
);

test.each(endings)('401: a session that a concurrent %s ends cannot accept an invitation', async (_what, prepare) => {
  const [owner, bob] = [await join(service), await join(service)];
  const end = await prepare(bob);
  const { token } = await invite(service, owner, { email: bob.email });
  const started: { accept?: ReturnType<typeof acceptAs>; end?: Promise<{ status: number }> } = {};
  // It waits for the session that it ends, when the user is changed already.
  const session = { sql: 'SELECT FROM sessions WHERE user_id = $1 ORDER BY id LIMIT 1 FOR UPDATE', id: bob.userId };
  await holding(service, session, async () => {
    started.end = end();
    await standing(service, 1);
    started.accept = acceptAs(bob.client, token);
    await standing(service, 2);
  });
  expect((await started.end)?.status).toBeLessThan(300);
  expect((await started.accept)?.problem).toMatchObject({
    kind: 'unauthorized',
    detail: 'This session has ended. Log in again.',
  });
  expect(await endingsIn(bob.userId, owner.accountId)).toEqual([]);
});

test('of 20 invitations accepted at once with a reset, none leaves a session open', async () => {
  const bob = await join(service);
  const end = await reset(bob);
  const tokens: string[] = [];
  for (let n = 0; n < 20; n++) tokens.push((await invite(service, await join(service), { email: bob.email })).token);
  const [ended] = await Promise.all([end(), atOnce((n) => acceptAs(bob.client, tokens[n] as string))]);
  expect(ended.status).toBe(204);
  const open = 'SELECT id FROM sessions WHERE user_id = $1 AND ended_at IS NULL';
  expect(await rows(service, open, bob.userId)).toEqual([]);
});
