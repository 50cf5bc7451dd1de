import { type Envelope, groupCreated } from '@attribution/contracts';
import { newId, newUuid } from '@attribution/ids';
import { newEvent } from '@attribution/messaging';
import { loadService } from '@attribution/registry';
import { startTestService, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type OpenDatabase, openServiceDatabase, ops } from './support.ts';

let service: TestService;
let environment: Record<string, string>;
beforeAll(async () => {
  service = await startTestService(await loadService('campaign'));
  environment = { CAMPAIGN_DATABASE_URL: String(service.db.options.connectionString) };
});
afterAll(() => service.stop());
beforeEach(async () => {
  await service.db.query('TRUNCATE dead_letters, inbox, known_groups');
});

const account_id = newId('account');
const at = '2026-11-22T10:00:00.000Z';

function groupEvent(): Envelope {
  const group = {
    id: newId('group'),
    external_id: null,
    name: 'North',
    description: null,
    created_at: at,
    updated_at: at,
  };
  const data = { account_id, aggregate_version: 1, group };
  return newEvent(groupCreated, data, { accountId: account_id, occurredAt: new Date(at) }).message.envelope;
}

/** An event whose data do not fit its contract. */
const brokenEvent = () => ({ ...groupEvent(), data: { account_id, email: 'ada@example.com' } }) as Envelope;

async function bury(envelope: Envelope, database: Pick<OpenDatabase, 'rows'> = { rows }): Promise<string> {
  const [row] = await database.rows<{ id: string }>(
    `INSERT INTO dead_letters (consumer, event_id, topic, envelope, attempts, error)
     VALUES ('campaign', $1, 'organization.events', $2, 5, 'No luck') RETURNING id`,
    envelope.event_id,
    JSON.stringify(envelope),
  );
  return row?.id ?? '';
}
const rows = async <T>(sql: string, ...values: readonly unknown[]) =>
  (await service.db.query(sql, [...values])).rows as T[];
const letters = () => rows<{ id: string; attempts: number }>('SELECT id, attempts FROM dead_letters ORDER BY id');
const groups = () => rows('SELECT id FROM known_groups');

test('dead letters are listed and counted by type, and shown without the fields that logs hide', async () => {
  const ids = [await bury(groupEvent()), await bury(brokenEvent())];
  const list = await ops('dead-letters list --limit 1', environment);
  expect(list.out).toMatch(/^campaign: 2 dead letters \(2 group\.created\)\n/);
  expect(list.out).toContain(`  ${ids[0]}  `);
  expect(list.out).toMatch(/and 1 more/);
  const one = await ops(`dead-letters show campaign ${ids[1]}`, environment);
  expect([one.code, one.out]).toEqual([0, expect.stringContaining('"email": "[redacted]"')]);
  expect((await ops('dead-letters show campaign 0', environment)).err).toMatch(/not found/);
});

test('a dry run lists what would be replayed and requests nothing; the real run replays exactly that', async () => {
  await bury(groupEvent());
  await bury(groupEvent());
  const dry = await ops('dead-letters replay campaign --dry-run', environment);
  expect(dry.out).toMatch(/^campaign: 2 dead letters would be replayed\n/);
  expect(await rows('SELECT FROM dead_letters WHERE replay_requested_at IS NOT NULL')).toHaveLength(0);
  const real = await ops('dead-letters replay campaign', environment);
  expect([real.code, real.out]).toEqual([0, 'campaign: 2 replayed, 0 failed again, 0 wait']);
  expect([await letters(), (await groups()).length]).toEqual([[], 2]);
});

test('an event that is replayed twice at once, and once more later, takes effect once', async () => {
  const envelope = groupEvent();
  const id = await bury(envelope);
  const words = `dead-letters replay campaign ${id}`;
  const both = await Promise.all([ops(words, environment), ops(words, environment)]);
  expect(both.map(({ code }) => code)).toEqual([0, 0]);
  expect(await groups()).toHaveLength(1);
  await service.db.query('DELETE FROM known_groups'); // A second effect would bring it back.
  await bury(envelope);
  expect((await ops('dead-letters replay campaign', environment)).code).toBe(0);
  expect([await letters(), await groups()]).toEqual([[], []]);
  expect((await ops(words, environment)).err).toMatch(/no such dead letter/);
});

test('a dead letter that fails again is reported with its error and stays, and the others are replayed', async () => {
  const [, broken] = [await bury(groupEvent()), await bury(brokenEvent())];
  const { code, out } = await ops('dead-letters replay campaign', environment);
  expect(code).toBe(1);
  expect(out).toMatch(/6 attempts: .*\ncampaign: 1 replayed, 1 failed again, 0 wait$/s);
  expect(await letters()).toEqual([{ id: broken, attempts: 6 }]);
});

test('when one of the named dead letters does not exist, none of them is replayed', async () => {
  const id = await bury(groupEvent());
  const { code, err } = await ops(`dead-letters replay campaign ${id} 999999`, environment);
  expect([code, err]).toEqual([1, expect.stringContaining('999999: no such dead letter')]);
  expect(await letters()).toHaveLength(1);
});

test('when no worker runs, the requested replay waits, and the command says so', async () => {
  const database = await openServiceDatabase('campaign');
  await bury({ ...groupEvent(), event_id: newUuid() }, database);
  const { code, out } = await ops('dead-letters replay campaign --wait 1', database.environment);
  expect([code, out]).toEqual([1, 'campaign: 0 replayed, 0 failed again, 1 wait']);
  expect((await ops('dead-letters list', database.environment)).out).toContain('to be replayed');
  await database.drop();
});
