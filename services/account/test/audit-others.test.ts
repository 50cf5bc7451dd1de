import {
  type AuditEntry,
  auditEvents,
  createApiKey,
  listAuditLog,
  recordRefusals,
  setUpMfa,
  transferOwnership,
} from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import { eventually, internalToken, personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { atOnce, join, startAccountService } from './support.ts';
import { auditRecordsOf, refusedEntry } from './support-audit.ts';
import { addMember } from './support-members.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const organizationRecords = auditEvents.organization;
const gateway = () => service.client.with({ token: internalToken('gateway', 'account') });
const countOf = async (id: string) => (await service.db.query('SELECT 1 FROM audit_log WHERE id = $1', [id])).rowCount;

test('a record of another service is in the log as it was written, once, however often it is delivered', async () => {
  if (!organizationRecords) throw new Error('Organization has no records');
  const ada = await join(service);
  const entry: AuditEntry = {
    ...refusedEntry(ada.accountId),
    ...{ action: 'update_group', outcome: 'done', actor: { type: 'person', id: ada.userId } },
    ...{ subject: { type: 'group', id: newId('group') }, details: { changed: ['name'] } },
  };
  const envelope = await service.deliver(organizationRecords, entry, ada.accountId);
  await service.redeliver(envelope, organizationRecords.topic.name);
  // The same record under other event ids, in transactions at once.
  await Promise.all(
    Array.from({ length: 8 }, () =>
      service.redeliver({ ...envelope, event_id: newUuid() }, organizationRecords.topic.name),
    ),
  );
  const { entries } = (await ada.client.call(listAuditLog, { query: { action: 'update_group' } })).body;
  const { account_id: _, ...seen } = entry;
  expect(entries).toEqual([seen]);
});

test('204: what the gateway has refused is in the log of the account, once, also when many reports of it come at once', async () => {
  const ada = await join(service);
  const entry = refusedEntry(ada.accountId);
  const report = () => gateway().call(recordRefusals, { body: { entries: [entry, refusedEntry(ada.accountId)] } });
  const statuses = await atOnce(report);
  expect(statuses.every(({ status }) => status === 204)).toBe(true);
  expect(await countOf(entry.id)).toBe(1);
  const { entries } = (await ada.client.call(listAuditLog, { query: { actor: entry.actor.id } })).body;
  const { account_id: _, ...seen } = entry;
  expect(entries).toEqual([seen]);
});

test('400: the gateway can report nothing but refusals, of which there are at most 100 in a report', async () => {
  const done = { ...refusedEntry(), outcome: 'done' } as never;
  expect((await gateway().call(recordRefusals, { body: { entries: [done] } })).status).toBe(400);
  const many = Array.from({ length: 101 }, () => refusedEntry());
  expect((await gateway().call(recordRefusals, { body: { entries: many } })).status).toBe(400);
  expect((await gateway().call(recordRefusals, { body: { entries: [] } })).status).toBe(400);
});

test('a refused call is recorded once a minute for each actor and endpoint, whatever the role', async () => {
  const ada = await join(service);
  const member = await addMember(service, ada);
  const viewer = newId('user');
  const asViewer = service.client.with({ token: personToken({ sub: viewer, account: ada.accountId, role: 'viewer' }) });
  for (let n = 0; n < 20; n++) {
    expect((await member.client.call(listAuditLog)).status).toBe(403);
    expect((await asViewer.call(createApiKey, { body: { name: 'Mine' } })).status).toBe(403);
  }
  const refused = (id: string, action: string) => ({ outcome: 'refused', action, actor: { type: 'person', id } });
  await eventually(async () => {
    const { entries } = (await ada.client.call(listAuditLog)).body;
    const found = entries.filter(({ outcome }) => outcome === 'refused');
    expect(found).toHaveLength(2);
    expect(found).toEqual(
      expect.arrayContaining([
        expect.objectContaining(refused(member.userId, 'list_audit_log')),
        expect.objectContaining(refused(viewer, 'create_api_key')),
      ]),
    );
  });
});

test('a refusal that its endpoint records itself, with the exact reason, has no second record', async () => {
  const ada = await join(service);
  const bob = await addMember(service, ada, { role: 'admin' });
  service.clock.advance({ minutes: 10 });
  const records = await auditRecordsOf(service, async () => {
    const body = { user_id: bob.userId };
    const params = { id: ada.accountId };
    expect((await ada.client.call(transferOwnership, { params, body } as never)).status).toBe(403);
    expect((await ada.client.call(setUpMfa)).status).toBe(403);
    // A refusal without a record of its own comes after them.
    await bob.client.call(transferOwnership, { params, body } as never);
    await eventually(async () => {
      const { rows } = await service.db.query("SELECT 1 FROM audit_log WHERE actor_id = $1 AND outcome = 'refused'", [
        bob.userId,
      ]);
      if (rows.length === 0) throw new Error('Not recorded yet');
    });
  });
  expect(records.filter(({ actor_id }) => actor_id === ada.userId).map(({ details }) => details.reason)).toEqual([
    'no_fresh_proof',
    'no_fresh_proof',
  ]);
});
