import { signup } from '@attribution/contracts';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { count, fullName, join, newEmail, password, rows, signUp, startAccountService } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterEach(() => service.db.query('DROP TRIGGER IF EXISTS refuse ON outbox'));
afterAll(() => service.stop());

const publishedOf = (accountId: string) => service.published.filter(({ account_id }) => account_id === accountId);
const typesOf = (accountId: string) => publishedOf(accountId).map(({ type }) => type);

/** All that a sign-up writes. */
const tables = [
  'users',
  'accounts',
  'memberships',
  'balances',
  'ledger_entries',
  'token_grants',
  'email_codes',
  'outbox',
  'queued_mails',
];
const countAll = async () =>
  Object.fromEntries(await Promise.all(tables.map(async (table) => [table, await count(service, table)])));
const settled = () =>
  eventually(async () => {
    expect(await count(service, 'outbox')).toBe(0);
    expect(await count(service, 'queued_mails')).toBe(0);
  });

test('account.created is published once per sign-up, with all fields of its envelope', async () => {
  const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const client = service.client.with({ headers: { traceparent } });
  const before = service.clock.now();
  const { body } = await client.call(signup, { body: { email: newEmail(), password, full_name: fullName } });
  await settled();
  expect(publishedOf(body.account_id)[0]).toEqual({
    event_id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    type: 'account.created',
    version: 1,
    account_id: body.account_id,
    key: body.account_id,
    occurred_at: expect.stringMatching(/Z$/),
    traceparent,
    data: { account_id: body.account_id, name: fullName, account_type: 'network', owner_user_id: body.user_id },
  });
  expect(typesOf(body.account_id)).toEqual(['account.created', 'tokens.granted']);
  const occurred = Date.parse(publishedOf(body.account_id)[0]?.occurred_at ?? '');
  expect(occurred).toBeGreaterThanOrEqual(before.getTime());
  expect(occurred).toBeLessThanOrEqual(service.clock.now().getTime());
});

test('tokens.granted announces the free grant, with its ledger entry', async () => {
  const { accountId } = await signUp(service);
  await settled();
  const [entry] = await rows<{ id: string }>(service, 'SELECT id FROM ledger_entries WHERE account_id = $1', accountId);
  expect(publishedOf(accountId)[1]).toMatchObject({
    type: 'tokens.granted',
    key: accountId,
    data: { account_id: accountId, entry_id: entry?.id, amount: 1000, expires_at: null },
  });
});

test('verifying, logging in and resetting publish nothing', async () => {
  const { accountId } = await join(service);
  await settled();
  expect(typesOf(accountId)).toEqual(['account.created', 'tokens.granted']);
});

test('two sign-ups publish events with different ids', async () => {
  const [ada, bob] = [await signUp(service), await signUp(service)];
  await settled();
  const [first, second] = [publishedOf(ada.accountId), publishedOf(bob.accountId)];
  expect([first.length, second.length]).toEqual([2, 2]);
  expect(first[0]?.event_id).not.toBe(second[0]?.event_id);
});

test('409: a refused sign-up publishes nothing', async () => {
  const { email } = await signUp(service);
  await settled();
  const before = service.published.length;
  await service.client.call(signup, { body: { email, password, full_name: fullName } });
  await settled();
  expect(service.published).toHaveLength(before);
});

test.each([
  ['while it runs', ''],
  ['at its commit', 'DEFERRABLE INITIALLY DEFERRED'],
])('503: a transaction that fails %s leaves nothing, publishes nothing and mails nothing', async (_when, timing) => {
  await settled();
  const [rowsBefore, publishedBefore] = [await countAll(), service.published.length];
  await service.db.query(`
    CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'refused'; END $$;
    CREATE CONSTRAINT TRIGGER refuse AFTER INSERT ON outbox ${timing} FOR EACH ROW EXECUTE FUNCTION refuse()`);

  const email = newEmail();
  const body = { email, password, full_name: fullName };
  const { status, problem, headers } = await service.client.call(signup, { body });
  expect([status, problem?.kind]).toEqual([503, 'unavailable']);
  expect(problem?.detail).toBe('The service could not answer for now. Try again.');
  expect(headers.get('retry-after')).toBe('1');
  expect(await countAll()).toEqual(rowsBefore);

  await service.db.query('DROP TRIGGER refuse ON outbox');
  // The same again, which succeeds, is the first that anybody hears of.
  const { body: made } = await service.client.call(signup, { body });
  await service.mailbox.codeFor(email);
  await settled();
  expect(await service.mailbox.messagesTo(email)).toHaveLength(1);
  const published = service.published.slice(publishedBefore).map(({ account_id, type }) => [account_id, type]);
  expect(published).toEqual([
    [made.account_id, 'account.created'],
    [made.account_id, 'tokens.granted'],
  ]);
});
