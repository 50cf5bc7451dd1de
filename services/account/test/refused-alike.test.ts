import { login, resetPassword, verifyEmail } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  addMembership,
  join,
  newEmail,
  type Person,
  password,
  resetCode,
  signUp,
  startAccountService,
  wrong,
} from './support.ts';
import { joinWithMfa } from './support-mfa.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const set = (column: string, { userId }: Person) =>
  service.db.query(`UPDATE users SET ${column} WHERE id = $1`, [userId]);

/** A user in several accounts, with grants in one of them. */
async function joinMany(): Promise<Person> {
  const person = await join(service);
  for (let i = 0; i < 5; i++) await addMembership(service, person.userId);
  const groups = Array.from({ length: 30 }, () => newId('group'));
  await service.db.query("INSERT INTO group_grants SELECT $1, $2, id, 'm' FROM unnest($3::text[]) AS id", [
    person.userId,
    person.accountId,
    groups,
  ]);
  return person;
}

test('a refused login sends the same statements for every user, and for an unknown address', async () => {
  const [disabled, alone] = [await join(service), await join(service)];
  await set('disabled_at = now()', disabled);
  await service.db.query('DELETE FROM memberships WHERE user_id = $1', [alone.userId]);
  const people = [
    await join(service),
    await joinMany(),
    await joinWithMfa(service),
    disabled,
    alone,
    await signUp(service),
  ];
  const statementsFor = (email: string) =>
    service.statementsOf(async () => {
      const { status } = await service.client.call(login, { body: { email, password: 'not the password' } });
      expect(status).toBe(401);
    });
  const forNobody = await statementsFor(newEmail());
  expect(forNobody).toHaveLength(5);
  for (const { email } of people) expect(await statementsFor(email)).toEqual(forNobody);
});

test('a refused code sends the same statements for a user and for an unknown address', async () => {
  const signedUp = await signUp(service);
  const first = await service.mailbox.codeFor(signedUp.email);
  const person = await joinMany();
  const second = await resetCode(service, person.email);
  const verify = (email: string, code: string) => service.client.call(verifyEmail, { body: { email, code } });
  const reset = (email: string, code: string) =>
    service.client.call(resetPassword, { body: { email, code, new_password: 'eight loud trumpets' } });
  for (const [attempt, email, code] of [
    [verify, signedUp.email, wrong(first)],
    [reset, person.email, wrong(second)],
  ] as const) {
    const statementsFor = (address: string) =>
      service.statementsOf(async () => expect((await attempt(address, code)).status).toBe(400));
    const forNobody = await statementsFor(newEmail());
    expect(forNobody).toHaveLength(5);
    expect(await statementsFor(email)).toEqual(forNobody);
  }
});

test('the wrong password after which a person is told sends the same statements for an unknown address', async () => {
  const statementsFor = async (email: string) => {
    const guess = () => service.client.call(login, { body: { email, password: 'not the password' } });
    for (let i = 0; i < 19; i++) await guess();
    return service.statementsOf(async () => expect((await guess()).status).toBe(401));
  };
  const forNobody = await statementsFor(newEmail());
  expect(await statementsFor((await join(service)).email)).toEqual(forNobody);
  expect(forNobody.filter((text) => text.includes('INSERT INTO queued_mails'))).toHaveLength(1);
});

test('a login is recorded before the response is sent, so that no record is lost', async () => {
  const { email, userId } = await join(service);
  await service.client.call(login, { body: { email, password: 'not the password' } });
  await service.client.call(login, { body: { email, password } });
  const { rows } = await service.db.query('SELECT outcome FROM audit_log WHERE subject_id = $1 ORDER BY id', [userId]);
  expect(rows.map(({ outcome }) => outcome as string)).toEqual(['done', 'refused', 'done']);
});
