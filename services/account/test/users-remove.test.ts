import { createApiKey, getApiKey, listUsers, removeUser } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import {
  addMembership,
  atOnce,
  count,
  enter,
  join,
  logIn,
  type Person,
  refresh,
  startAccountService,
  statusesOf,
} from './support.ts';
import { addGroup } from './support-keys.ts';
import { eventsOf } from './support-ledger.ts';
import { acceptAs, addMember, endingsOf, invite, latestDeed } from './support-members.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
  ada = await join(service);
});
afterEach(() => service.db.query('DROP TRIGGER IF EXISTS refuse ON outbox'));
afterAll(() => service.stop());

const remove = (person: Person, by = ada) => by.client.call(removeUser, { params: { id: person.userId } });

test('204: removes a user with all grants, ends the sessions in this account, and publishes an event', async () => {
  const group = await addGroup(service, ada.accountId);
  const bob = await addMember(service, ada, { group_scope: 'selected', groups: [group] });
  const { status, body } = await remove(bob);
  expect([status, body]).toEqual([204, undefined]);
  const { entries } = (await ada.client.call(listUsers)).body;
  expect(entries.map(({ id }) => id)).toEqual([ada.userId]);
  expect(await count(service, 'group_grants', 'user_id = $1', bob.userId)).toBe(0);
  expect((await refresh(service, bob.session.refresh_token)).status).toBe(401);
  expect(await endingsOf(service, bob)).toEqual(['removed']);
  expect(await latestDeed(service, bob.userId)).toMatchObject({
    account_id: ada.accountId,
    action: 'user.removed',
    actor_id: ada.userId,
  });
  const data = { account_id: ada.accountId, user_id: bob.userId };
  expect((await eventsOf(service, ada.accountId, 'user.removed')).at(-1)).toEqual({ type: 'user.removed', data });
});

test('204: the user stays in other accounts, and can be invited again', async () => {
  const bob = await addMember(service, ada);
  expect((await logIn(service, bob.email)).status).toBe(200);
  const other = await addMembership(service, bob.userId);
  await remove(bob);
  const session = await enter(service, bob.email);
  expect(session.account.id).toBe(other);
  const { token } = await invite(service, ada, { email: bob.email });
  const again = await acceptAs(service.client.with({ token: session.access_token }), token);
  expect(again.body).toMatchObject({ account: { id: ada.accountId }, user: { id: bob.userId } });
});

test('204: keys that the user created keep working', async () => {
  const admin = await addMember(service, ada, { role: 'admin' });
  const { body: key } = await admin.client.call(createApiKey, { body: { name: 'Export' } });
  await remove(admin);
  const { body } = await ada.client.call(getApiKey, { params: { id: key.id } });
  expect(body).toMatchObject({ created_by: admin.userId, revoked_at: null });
});

test('204: an admin can remove another admin, and leave', async () => {
  const [first, second] = [
    await addMember(service, ada, { role: 'admin' }),
    await addMember(service, ada, { role: 'admin' }),
  ];
  expect((await remove(second, first)).status).toBe(204);
  expect((await remove(first, first)).status).toBe(204);
  expect((await refresh(service, first.session.refresh_token)).status).toBe(401);
});

test('403: an admin cannot remove the owner', async () => {
  const admin = await addMember(service, ada, { role: 'admin' });
  const { status, problem } = await remove(ada, admin);
  expect([status, problem?.kind, problem?.detail]).toEqual([403, 'forbidden', 'An admin does not touch the owner.']);
  await enter(service, ada.email);
});

test('409: ownership must be transferred; the owner cannot be removed', async () => {
  const { status, problem } = await remove(ada);
  expect([status, problem?.kind, problem?.detail]).toEqual([
    409,
    'conflict',
    'The owner is never removed: hand the account over first.',
  ]);
});

test('404: a user who was removed before', async () => {
  const bob = await addMember(service, ada);
  await remove(bob);
  expect((await remove(bob)).problem?.kind).toBe('not-found');
});

test('503: removal, end of sessions, record and event are atomic: if one fails, none is done', async () => {
  const bob = await addMember(service, ada);
  await eventsOf(service, ada.accountId, 'user.');
  await service.db.query(`
    CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
    CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON outbox DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`);
  expect((await remove(bob)).problem?.kind).toBe('unavailable');
  await service.db.query('DROP TRIGGER refuse ON outbox');
  expect(await latestDeed(service, bob.userId)).not.toMatchObject({ action: 'user.removed' });
  expect((await refresh(service, bob.session.refresh_token)).status).toBe(200);
});

test('20 removals of one user at once: one is done, and published once', async () => {
  const bob = await addMember(service, ada);
  expect(statusesOf(await atOnce(() => remove(bob)))).toEqual({ 204: 1, 404: 19 });
  const removed = await eventsOf(service, ada.accountId, 'user.removed');
  expect(removed.filter(({ data }) => data.user_id === bob.userId)).toHaveLength(1);
});
