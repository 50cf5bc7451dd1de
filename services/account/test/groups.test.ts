import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createApiKey,
  getUser,
  groupCreated,
  groupDeleted,
  groupUpdated,
  listInvitations,
  rotateApiKey,
  updateApiKey,
  updateUser,
} from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import { createOutbox } from '@attribution/messaging';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { onGroupDeleted } from '../src/groups/index.ts';
import { openAccountDatabase } from '../src/store.ts';
import { count, join, type Person, refresh, rows, startAccountService } from './support.ts';
import { auditRecordsOf } from './support-audit.ts';
import { standing } from './support-locks.ts';
import { accept, addMember, invite } from './support-members.ts';
import { groupState, type OrganizationDouble, startOrganizationDouble } from './support-organization.ts';

let organization: OrganizationDouble;
let service: TestService;
let ada: Person;
let bob: Person;
beforeAll(async () => {
  organization = await startOrganizationDouble();
  service = await startAccountService({ ORGANIZATION_URL: organization.url });
  ada = await join(service);
  bob = await addMember(service, ada);
});
afterAll(async () => {
  await service.stop();
  await organization.stop();
});

const give = (groups: readonly (string | { group_id: string; role: 'a' | 'm' })[], to = bob, caller = ada) =>
  caller.client.call(updateUser, {
    params: { id: to.userId },
    body: { group_scope: 'selected', groups: [...groups] },
  });
const groupsOf = async (person: Person, caller = ada) =>
  (await caller.client.call(getUser, { params: { id: person.userId } })).body.groups.map(({ group_id }) => group_id);

/** Publishes an event of a group, as Organization does; returns the group's id. */
async function publishGroup(event: typeof groupCreated | typeof groupUpdated, accountId: string, id = newId('group')) {
  await service.deliver(event, groupState(id, accountId, event === groupCreated ? 1 : 2), accountId);
  return id;
}
const publishDeletion = (id: string, accountId = ada.accountId) =>
  service.deliver(groupDeleted, { account_id: accountId, aggregate_version: 3, group_id: id }, accountId);

/** Handles the deletion of several groups in one batch. */
async function deleteTogether(account_id: string, ...ids: string[]): Promise<void> {
  const { handle } = onGroupDeleted({ outbox: createOutbox(() => {}), clock: service.clock });
  const events = ids.map((group_id) => ({
    id: newUuid(),
    accountId: account_id,
    occurredAt: service.clock.now(),
    traceparent: null,
    data: { account_id, aggregate_version: 3, group_id },
  }));
  const database = openAccountDatabase({ url: String(service.db.options.connectionString) });
  await database.transaction((tx) => handle(tx as never, events as never));
  await database.close();
}

/** Locks the audit log during the work, so that transactions that write to it wait with all their other changes. */
async function whileAuditLogIsLocked(work: () => Promise<void>): Promise<void> {
  const outside = await service.db.connect();
  try {
    await outside.query('BEGIN');
    await outside.query('LOCK TABLE audit_log IN SHARE MODE');
    await work();
  } finally {
    await outside.query('COMMIT');
    outside.release();
  }
}

/** The events that were published for an account, when the outbox is empty. */
async function eventsOf(accountId: string, type: string) {
  await eventually(async () => expect(await count(service, 'outbox')).toBe(0));
  return service.published.filter((event) => event.account_id === accountId && event.type === type);
}

test('200: a group from an event is known without a look-up', async () => {
  const group = await publishGroup(groupCreated, ada.accountId);
  expect((await give([group])).status).toBe(200);
  await publishGroup(groupUpdated, ada.accountId, group);
  expect(await rows(service, 'SELECT id FROM known_groups WHERE id = $1', group)).toEqual([{ id: group }]);
});

test('200: a group without an event yet is looked up at its owner, together with known ones', async () => {
  const [known, fresh] = [await publishGroup(groupCreated, ada.accountId), organization.addGroup(ada.accountId)];
  expect((await give([known, fresh])).status).toBe(200);
  expect(await groupsOf(bob)).toEqual([known, fresh].sort());
});

test('200: 100 groups are looked up in one request', async () => {
  const groups = Array.from({ length: 100 }, () => organization.addGroup(ada.accountId));
  expect((await give(groups)).body.groups).toHaveLength(100);
  const { problem } = await give([...groups, newId('group')]);
  expect([problem?.status, problem?.detail]).toEqual([400, 'body.groups: must have at most 100 groups.']);
});

test('422: a group that does not exist, or that belongs to another account, known or looked up', async () => {
  const stranger = await join(service);
  const fine = organization.addGroup(ada.accountId);
  const foreign = [
    newId('group'),
    organization.addGroup(stranger.accountId),
    await publishGroup(groupCreated, stranger.accountId),
  ];
  const before = await groupsOf(bob);
  for (const group of foreign) {
    const { status, problem } = await give([fine, group]);
    expect([status, problem?.kind, problem?.detail]).toEqual([
      422,
      'unprocessable',
      `body.groups: ${group} is not a group of this account.`,
    ]);
  }
  expect(await groupsOf(bob)).toEqual(before);
});

test('deleting a group deletes its grants: of members, of keys and of invitations', async () => {
  const [deletedGroup, other] = [
    await publishGroup(groupCreated, ada.accountId),
    await publishGroup(groupCreated, ada.accountId),
  ];
  const carol = await addMember(service, ada, { group_scope: 'selected', groups: [deletedGroup, other] });
  const key = await ada.client.call(createApiKey, {
    body: { name: 'x', group_scope: 'selected', groups: [deletedGroup, other] },
  });
  const invited = await invite(service, ada, {
    group_scope: 'selected',
    groups: [{ group_id: deletedGroup, role: 'a' }, other],
  });
  const alone = await invite(service, ada, { group_scope: 'selected', groups: [deletedGroup] });

  await publishDeletion(deletedGroup);
  expect(await groupsOf(carol)).toEqual([other]);
  expect(await rows(service, 'SELECT group_id FROM api_key_grants WHERE api_key_id = $1', key.body.id)).toEqual([
    { group_id: other },
  ]);
  const { entries } = (await ada.client.call(listInvitations)).body;
  const ofInvitation = (id: string) => entries.find((entry) => entry.id === id);
  expect(ofInvitation(invited.id)?.groups).toEqual([{ group_id: other, role: 'm' }]);
  expect(ofInvitation(alone.id)).toMatchObject({ group_scope: 'selected', groups: [] });
  expect((await give([deletedGroup])).problem?.kind).toBe('unprocessable');
});

test('the deletion of a group publishes an event for each user and key that loses a grant, and records each pending invitation', async () => {
  const owner = await join(service);
  const { accountId, client } = owner;
  const [one, two, other] = [newId('group'), newId('group'), newId('group')].sort() as [string, string, string];
  for (const id of [one, two, other]) await publishGroup(groupCreated, accountId, id);
  const narrowed = { group_scope: 'selected' as const };
  const both = await addMember(service, owner, { ...narrowed, groups: [one, two, other] });
  const key = await client.call(createApiKey, { body: { name: 'x', ...narrowed, groups: [one, other] } });
  const pending = await invite(service, owner, { ...narrowed, groups: [two] });
  await addMember(service, owner, { ...narrowed, groups: [other] });

  const records = await auditRecordsOf(service, () => deleteTogether(accountId, one, two));
  const lost = (action: string, subject_id: string, ...group_ids: string[]) => ({
    account_id: accountId,
    action,
    outcome: 'done',
    actor_type: 'service',
    actor_id: 'organization',
    subject_id,
    ip: null,
    details: { reason: 'group_deleted', group_ids },
  });
  expect(records).toEqual([
    lost('user.changed', both.userId, one, two),
    lost('api_key.changed', key.body.id, one),
    lost('invitation.changed', pending.id, two),
  ]);
  const events = await eventsOf(accountId, 'user.grants_changed');
  expect(events.map(({ data }) => data)).toEqual([{ account_id: accountId, user_id: both.userId }]);
});

test('deleting a group ends no session, and is published once, however often its event is delivered', async () => {
  const owner = await join(service);
  const group = await publishGroup(groupCreated, owner.accountId);
  const carol = await addMember(service, owner, { group_scope: 'selected', groups: [group] });
  const records = await auditRecordsOf(service, async () => {
    const deleted = await publishDeletion(group, owner.accountId);
    await service.redeliver(deleted, groupDeleted.topic.name);
    await publishDeletion(group, owner.accountId);
  });
  expect(records).toHaveLength(1);
  expect(await eventsOf(owner.accountId, 'user.grants_changed')).toHaveLength(1);
  expect((await refresh(service, carol.session.refresh_token)).status).toBe(200);
});

test('when its record cannot be written, a group keeps its grants until the event is handled again', async () => {
  const owner = await join(service);
  const group = await publishGroup(groupCreated, owner.accountId);
  const carol = await addMember(service, owner, { group_scope: 'selected', groups: [group] });
  await service.db.query(`ALTER TABLE audit_log ADD CONSTRAINT refuse CHECK (actor_id <> 'organization') NOT VALID`);
  const handled = publishDeletion(group, owner.accountId);
  await eventually(async () => expect(service.logs.text()).toContain('An event failed; trying again'));
  expect(await groupsOf(carol, owner)).toEqual([group]);
  await service.db.query('ALTER TABLE audit_log DROP CONSTRAINT refuse');
  await handled;
  expect(await groupsOf(carol, owner)).toEqual([]);
});

test.each(['a change of a user', 'a change of a key', 'a rotation of a key', 'an acceptance'] as const)(
  '%s during the deletion of a group does not restore its grants',
  async (what) => {
    const owner = await join(service);
    const { accountId, client } = owner;
    const [deletedGroup, other] = [
      await publishGroup(groupCreated, accountId),
      await publishGroup(groupCreated, accountId),
    ];
    const narrowed = { group_scope: 'selected' as const, groups: [deletedGroup, other] };
    const carol = await addMember(service, owner, narrowed);
    const { id: keyId } = (await client.call(createApiKey, { body: { name: 'x', ...narrowed } })).body;
    const { token } = await invite(service, owner, narrowed);
    const params = { id: keyId };
    const work = {
      'a change of a user': () => client.call(updateUser, { params: { id: carol.userId }, body: { billing: true } }),
      'a change of a key': () => client.call(updateApiKey, { params, body: { name: 'y', groups: narrowed.groups } }),
      'a rotation of a key': () => client.call(rotateApiKey, { params }),
      'an acceptance': () => accept(service, token),
    }[what];
    const started: { work?: ReturnType<typeof work>; deleted?: Promise<unknown> } = {};
    // The work waits before it appends its event, after the grants are written.
    await whileAuditLogIsLocked(async () => {
      started.work = work();
      await standing(service, 1);
      started.deleted = publishDeletion(deletedGroup, accountId);
      await standing(service, 2);
    });
    expect((await started.work)?.status).toBeLessThan(300);
    await started.deleted;
    for (const table of ['group_grants', 'api_key_grants'])
      expect(await rows(service, `SELECT 1 FROM ${table} WHERE group_id = $1`, deletedGroup)).toEqual([]);
  },
);

test('a member who loses the last group stays narrowed, and sees no estate', async () => {
  const group = await publishGroup(groupCreated, ada.accountId);
  const carol = await addMember(service, ada, { group_scope: 'selected', groups: [group] });
  await publishDeletion(group);
  const { body } = await ada.client.call(getUser, { params: { id: carol.userId } });
  expect(body).toMatchObject({ group_scope: 'selected', groups: [] });
});

test('a deleted group stays deleted when an earlier event about it arrives late, redelivered or new', async () => {
  const id = newId('group');
  const created = await service.deliver(groupCreated, groupState(id, ada.accountId), ada.accountId);
  await publishDeletion(id);
  await service.redeliver(created, groupCreated.topic.name);
  await publishGroup(groupUpdated, ada.accountId, id);
  expect((await give([id])).problem?.kind).toBe('unprocessable');
});

test.each([
  ['answers 503', (_req: unknown, res: { writeHead(status: number): { end(): void } }) => res.writeHead(503).end()],
  ['answers what is no answer', (_req: unknown, res: { end(text: string): void }) => res.end('<html>')],
  ['hangs', () => {}],
])('502: in bounded time where the owner of groups %s; what it is not asked for works on', async (what, answer) => {
  const server = createServer(answer as never);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const other = await startAccountService({ ORGANIZATION_URL: url });
  const [owner] = [await join(other)];
  const member = await addMember(other, owner);
  const began = performance.now();
  const { status, problem, headers } = await give([newId('group')], member, owner);
  expect([status, problem?.kind, headers.get('retry-after')]).toEqual([502, 'upstream-error', '1']);
  expect(problem?.detail).toBe('The groups could not be looked up. Try again.');
  expect(performance.now() - began).toBeLessThan(what === 'hangs' ? 8_000 : 4_500);
  expect(other.logs.text()).toContain('Groups could not be looked up');
  expect((await give([], member, owner)).status).toBe(200);
  await other.stop();
  server.closeAllConnections();
  server.close();
});

test('502: when Organization cannot be reached', async () => {
  const other = await startAccountService();
  const owner = await join(other);
  const member = await addMember(other, owner);
  expect((await give([newId('group')], member, owner)).problem?.kind).toBe('upstream-error');
  await other.stop();
});
