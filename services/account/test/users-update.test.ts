import { getMyPermissions, getUser, type MemberChange, updateUser } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { z } from 'zod';
import {
  addMembership,
  atOnce,
  claimsIn,
  enter,
  join,
  logIn,
  type Person,
  refresh,
  startAccountService,
} from './support.ts';
import { addGroup } from './support-keys.ts';
import { eventsOf } from './support-ledger.ts';
import { addMember, endingsOf, latestDeed } from './support-members.ts';

let service: TestService;
let ada: Person;
beforeAll(async () => {
  service = await startAccountService();
  await service.db.query('UPDATE plans SET max_users = NULL');
  ada = await join(service);
});
afterEach(() => service.db.query('DROP TRIGGER IF EXISTS refuse ON outbox'));
afterAll(() => service.stop());

type Change = z.input<typeof MemberChange>;
const change = (person: Person, body: Change, by = ada) =>
  by.client.call(updateUser, { params: { id: person.userId }, body });
const read = async (person: Person) => (await ada.client.call(getUser, { params: { id: person.userId } })).body;
const claimsOf = async (person: Person) => claimsIn(service, (await enter(service, person.email)).access_token);

test('200: groups are given as ids or objects, returned as objects, and appear in the next token', async () => {
  const bob = await addMember(service, ada);
  const [north, south] = [await addGroup(service, ada.accountId), await addGroup(service, ada.accountId)];
  const { status, body } = await change(bob, {
    group_scope: 'selected',
    groups: [{ group_id: south, role: 'a' }, north],
  });
  expect(status).toBe(200);
  expect(body.groups).toEqual([
    { group_id: north, role: 'm' },
    { group_id: south, role: 'a' },
  ]);
  expect(body).toEqual(await read(bob));
  expect(await claimsOf(bob)).toMatchObject({ group_scope: 'selected', groups: { [north]: 'm', [south]: 'a' } });
});

test('200: groups replace the previous ones; without groups they stay', async () => {
  const bob = await addMember(service, ada);
  const [north, south] = [await addGroup(service, ada.accountId), await addGroup(service, ada.accountId)];
  await change(bob, { group_scope: 'selected', groups: [north] });
  expect((await change(bob, { groups: [south] })).body.groups).toEqual([{ group_id: south, role: 'm' }]);
  expect((await change(bob, { billing: true })).body.groups).toEqual([{ group_id: south, role: 'm' }]);
  expect((await change(bob, { groups: [] })).body).toMatchObject({ group_scope: 'selected', groups: [] });
  expect(await claimsOf(bob)).toMatchObject({ group_scope: 'selected', groups: {} });
});

test('200: the scope all and the role admin remove grants', async () => {
  const group = await addGroup(service, ada.accountId);
  for (const widening of [{ group_scope: 'all' }, { role: 'admin' }] as const) {
    const bob = await addMember(service, ada, { group_scope: 'selected', groups: [group] });
    expect((await change(bob, widening)).body).toMatchObject({ group_scope: 'all', groups: [], ...widening });
    expect(await claimsOf(bob)).not.toHaveProperty('groups');
  }
});

test('200: services as a map, and null for the role’s default', async () => {
  const bob = await addMember(service, ada);
  const services = { '*': 'r', campaign: 'w' } as const;
  expect((await change(bob, { services })).body.services).toEqual(services);
  expect((await claimsOf(bob)).svc).toEqual(services);
  expect((await change(bob, { services: {} })).body.services).toEqual({});
  expect((await change(bob, { services: null })).body.services).toBeNull();
  expect(await claimsOf(bob)).not.toHaveProperty('svc');
});

test('200: billing access is granted to a member, and removed', async () => {
  const bob = await addMember(service, ada);
  expect((await claimsOf(bob)).bil).toBe('n');
  expect((await change(bob, { billing: true })).body.billing).toBe(true);
  expect(await claimsOf(bob)).not.toHaveProperty('bil');
  expect((await bob.client.call(getMyPermissions)).body.can.manage_billing).toBe(true);
  expect((await change(bob, { billing: false })).body.billing).toBe(false);
  expect((await claimsOf(bob)).bil).toBe('n');
});

test('200: a member becomes an admin, who manages users, and a member again', async () => {
  const [bob, carol] = [await addMember(service, ada), await addMember(service, ada)];
  expect((await change(bob, { role: 'admin' })).body).toMatchObject({ role: 'admin', billing: true });
  const admin = { ...bob, client: service.client.with({ token: (await enter(service, bob.email)).access_token }) };
  expect((await change(carol, { role: 'admin' }, admin)).status).toBe(200);
  expect((await change(bob, { role: 'member' })).body).toMatchObject({ role: 'member', billing: false });
});

test('200: a disabled member cannot enter until it is active again; other members can', async () => {
  const [bob, carol] = [await addMember(service, ada), await addMember(service, ada)];
  expect((await change(bob, { status: 'disabled' })).body.status).toBe('disabled');
  expect((await logIn(service, bob.email)).problem?.kind).toBe('forbidden');
  expect((await refresh(service, bob.session.refresh_token)).status).toBe(401);
  await enter(service, carol.email);
  expect((await change(bob, { status: 'active' })).body.status).toBe('active');
  await enter(service, bob.email);
});

test.each<[string, (group: string) => Change]>([
  ['role', () => ({ role: 'admin' })],
  ['groups', (group) => ({ group_scope: 'selected', groups: [group] })],
  ['services', () => ({ services: { campaign: 'r' } })],
  ['billing', () => ({ billing: true })],
  ['status', () => ({ status: 'disabled' })],
])(
  'a change of %s ends the user’s sessions in this account and no others, is recorded and published',
  async (field, body) => {
    const [bob, carol] = [await addMember(service, ada), await addMember(service, ada)];
    const second = await enter(service, bob.email);
    const elsewhere = await addMembership(service, bob.userId);
    await service.db.query(
      `INSERT INTO sessions SELECT gen_random_uuid(), user_id, $2, ip, user_agent, created_at, last_used_at
     FROM sessions WHERE user_id = $1 LIMIT 1`,
      [bob.userId, elsewhere],
    );
    const publishedBefore = (await eventsOf(service, ada.accountId, 'user.grants_changed')).length;

    await change(bob, body(await addGroup(service, ada.accountId)));
    for (const token of [bob.session.refresh_token, second.refresh_token])
      expect((await refresh(service, token)).status).toBe(401);
    expect(await endingsOf(service, bob)).toEqual(['grants_changed', 'grants_changed']);
    expect((await refresh(service, carol.session.refresh_token)).status).toBe(200);
    expect(await endingsOf(service, { userId: bob.userId, accountId: elsewhere })).toEqual([null]);

    expect(await latestDeed(service, bob.userId)).toMatchObject({
      account_id: ada.accountId,
      action: 'user.changed',
      outcome: 'done',
      actor_type: 'person',
      actor_id: ada.userId,
      details: { [field]: expect.anything() },
    });
    const data = { account_id: ada.accountId, user_id: bob.userId };
    expect((await eventsOf(service, ada.accountId, 'user.grants_changed')).slice(publishedBefore)).toEqual([
      { type: 'user.grants_changed', data },
    ]);
  },
);

test('200: billing set for an admin does not remain when the admin becomes a member', async () => {
  const bob = await addMember(service, ada, { role: 'admin', billing: true });
  expect((await change(bob, { billing: true })).body.billing).toBe(true);
  expect((await refresh(service, bob.session.refresh_token)).status).toBe(200);
  expect((await change(bob, { role: 'member' })).body).toMatchObject({ role: 'member', billing: false });
  expect((await change(bob, { role: 'admin' })).body.billing).toBe(true);
  expect((await change(bob, { role: 'member', billing: true })).body).toMatchObject({ role: 'member', billing: true });
});

test('200: an update that changes nothing ends no session and publishes nothing', async () => {
  const group = await addGroup(service, ada.accountId);
  const bob = await addMember(service, ada, { group_scope: 'selected', groups: [group] });
  const publishedBefore = (await eventsOf(service, ada.accountId, 'user.')).length;
  const same: Change = {
    role: 'member',
    group_scope: 'selected',
    groups: [group],
    services: null,
    billing: false,
    status: 'active',
  };
  for (const body of [{}, same, { unknown: 1 } as Change])
    expect((await change(bob, body)).body).toEqual(await read(bob));
  expect((await refresh(service, bob.session.refresh_token)).status).toBe(200);
  expect(await eventsOf(service, ada.accountId, 'user.')).toHaveLength(publishedBefore);
});

test('503: change, end of sessions, record and event are atomic: if one fails, none is done', async () => {
  const bob = await addMember(service, ada);
  await eventsOf(service, ada.accountId, 'user.');
  await service.db.query(`
    CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
    CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON outbox DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse()`);
  const before = await read(bob);
  expect((await change(bob, { role: 'admin', status: 'disabled' })).problem?.kind).toBe('unavailable');
  await service.db.query('DROP TRIGGER refuse ON outbox');
  expect(await read(bob)).toEqual(before);
  expect(await latestDeed(service, bob.userId)).not.toMatchObject({ action: 'user.changed' });
  expect((await refresh(service, bob.session.refresh_token)).status).toBe(200);
});

test('a change while 20 sessions are refreshed leaves none of them', async () => {
  const bob = await addMember(service, ada);
  const sessions = await atOnce(() => enter(service, bob.email));
  const [, refreshed] = await Promise.all([
    change(bob, { billing: true }),
    Promise.all(sessions.map(({ refresh_token }) => refresh(service, refresh_token))),
  ]);
  for (const { status, body } of refreshed.filter((answer) => answer.status === 200))
    expect([status, (await refresh(service, body.refresh_token)).status]).toEqual([200, 401]);
  for (const { refresh_token } of sessions) expect((await refresh(service, refresh_token)).status).toBe(401);
});

test('20 changes of one user’s groups at once: the grants are those of one of them', async () => {
  const bob = await addMember(service, ada);
  const groups: string[] = [];
  for (let i = 0; i < 20; i++) groups.push(await addGroup(service, ada.accountId));
  const answers = await atOnce((i) => change(bob, { group_scope: 'selected', groups: groups.slice(0, i + 1) }));
  for (const [i, { status, body }] of answers.entries()) expect([status, body.groups.length]).toEqual([200, i + 1]);
  const ids = (await read(bob)).groups.map(({ group_id }) => group_id);
  expect(ids).toEqual(groups.slice(0, ids.length).sort());
});
