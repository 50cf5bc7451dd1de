import {
  acceptInvitation,
  createInvitation,
  deleteInvitation,
  resendInvitation,
  signup,
  updateAccount,
  updateMe,
} from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  atOnce,
  count,
  enter,
  fullName,
  join,
  newEmail,
  type Person,
  password,
  postRaw,
  signUp,
  startAccountService,
  statusesOf,
} from './support.ts';
import { messagesTo } from './support-mails.ts';
import { invite } from './support-members.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

/** The person with a new session: that of before has an access token that has expired. */
async function signedInAgain(person: Person): Promise<Person> {
  const { access_token } = await enter(service, person.email);
  return { ...person, client: service.client.with({ token: access_token }) };
}
const create = ({ client }: Pick<Person, 'client'>, email: string) =>
  client.call(createInvitation, { body: { email } });
const resend = ({ client }: Person, id: string) => client.call(resendInvitation, { params: { id } });
const remove = ({ client }: Person, id: string) => client.call(deleteInvitation, { params: { id } });
const perAddress = {
  status: 409,
  kind: 'conflict',
  detail: 'An account sends 5 invitations an hour and 20 a day to one address at most.',
};

describe('invitations', () => {
  test('of 20 at once to one address 5 are sent, and what was refused is not counted', async () => {
    const owner = await join(service);
    const { id, email } = await invite(service, owner);
    const answers = await atOnce(() => resend(owner, id));
    expect(statusesOf(answers)).toEqual({ 202: 4, 409: 16 });
    expect(answers.find(({ problem }) => problem)?.problem).toMatchObject(perAddress);
    expect(await messagesTo(service, email)).toHaveLength(5);
    service.clock.advance({ minutes: 60 });
    expect((await resend(await signedInAgain(owner), id)).status).toBe(202);
  });

  test('an address is one in any letter case, also when the invitation is deleted and made anew', async () => {
    const owner = await join(service);
    const email = newEmail();
    const statuses: number[] = [];
    for (let n = 0; n < 6; n++) {
      const answer = await create(owner, n % 2 ? email.toUpperCase() : email);
      statuses.push(answer.status);
      if (answer.problem) expect(answer.problem).toMatchObject(perAddress);
      else await remove(owner, answer.body.id);
    }
    expect(statuses).toEqual([201, 201, 201, 201, 201, 409]);
    expect((await create(await join(service), email)).status).toBe(201);
  });

  test('409: the 21st of a day to one address; the next day it is sent', async () => {
    const owner = await join(service);
    const { id } = await invite(service, owner);
    await service.db.query("UPDATE mail_budgets SET in_day = 20, in_hour = 1 WHERE sender = $1 AND recipient <> ''", [
      owner.accountId,
    ]);
    expect((await resend(owner, id)).problem).toMatchObject(perAddress);
    service.clock.advance({ days: 1 });
    expect((await resend(await signedInAgain(owner), id)).status).toBe(202);
  });

  test('409: of 20 at once to different addresses the 100th of the day is sent, and no more', async () => {
    const owner = await join(service);
    await create(owner, newEmail());
    await service.db.query("UPDATE mail_budgets SET in_hour = 99, in_day = 99 WHERE sender = $1 AND recipient = ''", [
      owner.accountId,
    ]);
    const answers = await atOnce(() => create(owner, newEmail()));
    expect(statusesOf(answers)).toEqual({ 201: 1, 409: 19 });
    const { problem } = answers.find(({ status }) => status === 409) ?? {};
    expect(problem?.detail).toBe('An account sends 100 invitations a day at most.');
    expect(await count(service, 'invitations', 'account_id = $1', owner.accountId)).toBe(2);
  });
});

describe('codes', () => {
  const ask = (path: string, email: string) => postRaw(service, path, { email });
  const forgot = '/v2/auth/forgot-password';
  const again = '/v2/auth/verify-email/resend';
  const fresh = {
    [forgot]: async () => (await join(service)).email,
    [again]: async () => (await signUp(service)).email,
  };

  test.each([
    [forgot, 4],
    [again, 4],
  ] as const)('429: of 20 at once by %s to one address as many as an hour allows are sent', async (path, sent) => {
    const email = (await fresh[path]?.()) ?? '';
    const before = (await messagesTo(service, email)).length;
    const answers = await atOnce((n) => ask(path, n % 2 ? email : email.toUpperCase()));
    expect(statusesOf(answers)).toEqual({ 202: sent, 429: 20 - sent });
    expect(await messagesTo(service, email)).toHaveLength(before + sent);
  });

  test('429: an unknown address gets the same answers as a known one, with Retry-After', async () => {
    const known = (await join(service)).email; // The sign-up sent one code.
    const unknown = newEmail();
    await ask(forgot, unknown);
    const varying = (text: string) => text.replaceAll(/\d{4}/g, 'N');
    for (let n = 0; n < 6; n++) {
      const [a, b] = [await ask(forgot, known), await ask(forgot, unknown)];
      expect(a.status).toBe(n < 4 ? 202 : 429);
      expect(varying(JSON.stringify(a))).toBe(varying(JSON.stringify(b)));
    }
    const { headers } = await ask(again, unknown);
    const retryAfter = Number(headers.find(([name]) => name === 'retry-after')?.[1]);
    expect(retryAfter).toBeGreaterThan(3_000);
    expect(retryAfter).toBeLessThanOrEqual(3_600);
    service.clock.advance({ minutes: 60 });
    for (const email of [known, unknown]) expect((await ask(forgot, email)).status).toBe(202);
  });

  test('429: a sign-up with an address that got too many codes makes no user; 409 stays for one that exists', async () => {
    const [unknown, known] = [newEmail(), (await join(service)).email];
    for (let n = 0; n < 5; n++) for (const email of [unknown, known]) await ask(forgot, email);
    const body = { password, full_name: fullName };
    expect((await service.client.call(signup, { body: { ...body, email: unknown } })).status).toBe(429);
    expect((await service.client.call(signup, { body: { ...body, email: known } })).status).toBe(409);
    expect(await count(service, 'users', 'email = $1', unknown)).toBe(0);
  });

  test('429: the 21st of a day, although its hour has begun anew', async () => {
    const email = newEmail();
    await ask(forgot, email);
    await service.db.query('UPDATE mail_budgets SET in_day = 20 WHERE recipient = $1', [email]);
    service.clock.advance({ minutes: 61 });
    const { status, headers } = await ask(forgot, email);
    expect(status).toBe(429);
    expect(Number(headers.find(([name]) => name === 'retry-after')?.[1])).toBeGreaterThan(22 * 60 * 60);
  });
});

describe('400: a name that mail would show as a link, as', () => {
  const name = 'Win at evil.com';
  test.each([
    [
      'full_name of a sign-up',
      () => service.client.call(signup, { body: { email: newEmail(), password, full_name: name } }),
    ],
    ['full_name of a user', async () => (await join(service)).client.call(updateMe, { body: { full_name: name } })],
    [
      'full_name of a newcomer',
      () => service.client.call(acceptInvitation, { body: { token: 'x', full_name: name, password } }),
    ],
    [
      'name of an account',
      async () => {
        const { client, accountId } = await join(service);
        return client.call(updateAccount, { params: { id: accountId }, body: { name } });
      },
    ],
  ])('%s', async (what, call) => {
    const field = what.split(' ')[0];
    expect((await call()).problem).toMatchObject({
      status: 400,
      kind: 'validation-error',
      detail: `body.${field}: must hold no web address (a dot inside a name is followed by a space), not "${name}".`,
    });
  });
});
