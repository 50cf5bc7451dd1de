import { createVerifier } from '@attribution/auth';
import { newId } from '@attribution/ids';
import { createInProcessTransport } from '@attribution/messaging';
import { loadService, registeredNames } from '@attribution/registry';
import { captureLogs, eventually, problemBase, testInternal, testKeys, worthlessSettings } from '@attribution/testing';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { type OpenDatabase, openServiceDatabase, ops } from './support.ts';

const open: OpenDatabase[] = [];
let account: OpenDatabase;
let organization: OpenDatabase;
let campaign: OpenDatabase;
let billing: OpenDatabase;
let environment: Record<string, string>;
beforeEach(async () => {
  open.push(...(await Promise.all(registeredNames.map(openServiceDatabase))));
  [account, organization, campaign, billing] = open as [OpenDatabase, OpenDatabase, OpenDatabase, OpenDatabase];
  environment = Object.assign({}, ...open.map((one) => one.environment));
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.drop()));
});

/** Inserts rows that every service keeps for a time: `n` of each that expired a minute ago, and one that expires in a minute. */
async function fillCommon({ rows }: OpenDatabase, n: number): Promise<void> {
  const ages = (table: string, columns: string, values: string, age: string) =>
    rows(
      `INSERT INTO ${table} (${columns}) SELECT ${values}, now() - $1::interval + (CASE WHEN n = 0 THEN 1 ELSE -1 END) * interval '1 minute'
     FROM generate_series(0, $2::int) AS n`,
      age,
      n,
    );
  await ages('idempotency_keys', 'account_id, operation, key, request_hash, created_at', `'a', 'o', n, ''`, '24 hours');
  await ages('inbox', 'consumer, event_id, processed_at', `'x', gen_random_uuid()`, '30 days');
  await ages('projection_tombstones', 'id, deleted_at', `'t' || n`, '30 days');
}

const countOf = async ({ rows }: OpenDatabase, table: string) =>
  (await rows<{ count: number }>(`SELECT count(*)::int AS count FROM ${table}`))[0]?.count;
const asDone = (out: string) => out.replace('would be deleted', 'were deleted');

async function fillOwn(): Promise<void> {
  await account.rows(`INSERT INTO email_codes (purpose, email_key, code_hash, expires_at, created_at)
    SELECT (enum_range(NULL::"CodePurpose"))[1], n || '@example.com', '', now() - n * interval '11 hours', now()
    FROM generate_series(1, 3) AS n`);
  const people = [1, 2, 3].map((n) => [newId('user'), newId('account'), n] as const);
  for (const [user, id, n] of people) {
    await account.rows(
      `INSERT INTO users (id, email, email_key, full_name, password_hash, created_at, updated_at)
       VALUES ($1, $1, $1, '', '', now() - $2 * interval '5 days', now())`,
      user,
      n,
    );
    await account.rows(
      `INSERT INTO accounts (id, name, account_type_key, created_at, updated_at)
       VALUES ($1, '', (SELECT key FROM account_types LIMIT 1), now(), now())`,
      id,
    );
    await account.rows(
      `INSERT INTO memberships (user_id, account_id, role, joined_at) VALUES ($1, $2, 'owner', now())`,
      user,
      id,
    );
  }
  await account.rows(`INSERT INTO audit_log (id, occurred_at, action, outcome, actor_type, details)
    VALUES ('01700000-0000-7000-8000-000000000000', '2020-02-01', 'session.opened', 'done', 'person', '{}')`);
  await billing.rows(`INSERT INTO provider_events (id, type, object_kind, object_id, created_at, received_at, due_at)
    SELECT n, 't', 'payment', 'x', now(), now() - interval '91 days', CASE WHEN n = 1 THEN now() END FROM generate_series(1, 4) AS n`);
  const [one, other] = [newId('account'), newId('account')];
  await organization.rows(
    `INSERT INTO groups (id, account_id, name, created_at, updated_at)
     SELECT id, CASE WHEN n <= 1000 THEN $1 ELSE $2 END, '', now(), now()
     FROM unnest($3::text[]) WITH ORDINALITY AS g (id, n)`,
    one,
    other,
    Array.from({ length: 1002 }, () => newId('group')),
  );
  await organization.rows('INSERT INTO estate_purges (account_id, requested_at) VALUES ($1, now())', one);
  await organization.rows(
    `INSERT INTO estate_imports (id, account_id, created_by, dry_run, media, status, created_at, finished_at)
     SELECT n, $1, '', false, 'csv', (enum_range(NULL::"EstateImportStatus"))[1], now(), now() - n * interval '20 days'
     FROM generate_series(1, 2) AS n`,
    other,
  );
}

test('for every job of every service, a purge deletes exactly what its dry run counted, and a second purge deletes nothing', async () => {
  await Promise.all(open.map((one, n) => fillCommon(one, 2 + n)));
  await fillOwn();
  const dry = await ops('purge --dry-run', environment);
  expect(await countOf(organization, 'groups')).toBe(1002);
  expect([dry.code, dry.out]).toEqual([0, expect.stringMatching(/\n\d+ rows would be deleted$/)]);
  for (const line of [
    'account  purge-idempotency-keys: idempotency_keys 2',
    'campaign  purge-inbox: inbox 4, projection_tombstones 4',
    'account  purge-spent: email_codes 1',
    'account  purge-unverified: users 2, accounts 2',
    'account  purge-audit-log: audit_log 1',
    'organization  purge-estate-imports: estate_imports 1',
    'organization  purge-estates: estate_purges 1, groups 1000',
    'billing  purge-provider-events: provider_events 3',
  ])
    expect(dry.out.split('\n')).toContain(line);
  const real = await ops('purge', environment);
  expect([real.code, real.out]).toEqual([0, asDone(dry.out)]);
  expect((await ops('purge', environment)).out).toMatch(/^0 rows were deleted$/m);
  // The service's own outbox has an event for each deleted thing.
  expect([await countOf(organization, 'outbox'), await countOf(account, 'outbox')]).toEqual([1000, 2]);
  expect([await countOf(account, 'users'), await countOf(organization, 'groups')]).toEqual([1, 2]);
});

test("a dry run counts exactly what the service's own jobs delete", async () => {
  await fillCommon(campaign, 3);
  const { out } = await ops('purge campaign --dry-run', environment);
  expect(out).toMatch(/^9 rows would be deleted$/m);
  const transport = createInProcessTransport();
  const definition = await loadService('campaign');
  const service = definition.create(
    {
      databaseUrl: campaign.url,
      transport,
      verifier: createVerifier(testKeys.public),
      internal: testInternal('campaign'),
      logger: captureLogs().logger,
      problemBase,
      checkAnswers: true,
    },
    worthlessSettings(definition),
  );
  service.start();
  for (const table of ['idempotency_keys', 'inbox', 'projection_tombstones'])
    await eventually(async () => expect(await countOf(campaign, table)).toBe(1));
  expect((await ops('purge campaign --dry-run', environment)).out).toMatch(/^0 rows would be deleted$/m);
  await service.drain(Date.now() + 1_000);
  await service.close();
});

test('tombstones are kept while there is a dead letter, because its event may be older than they are', async () => {
  await fillCommon(campaign, 2);
  await campaign.rows(`INSERT INTO dead_letters (consumer, event_id, topic, envelope, attempts, error)
    VALUES ('campaign', gen_random_uuid(), 't', '{}', 1, '')`);
  for (const words of ['purge campaign --dry-run', 'purge campaign'])
    expect((await ops(words, environment)).out).toMatch(/^campaign {2}purge-inbox: inbox 2$/m);
  expect(await countOf(campaign, 'projection_tombstones')).toBe(3);
});

test('a job that a worker is running is skipped', async () => {
  await fillCommon(campaign, 2);
  const client = new pg.Client({ connectionString: campaign.url });
  await client.connect();
  await client.query(`SELECT pg_advisory_lock(hashtextextended('job purge-inbox', 1))`);
  const { code, out } = await ops('purge campaign --job purge-inbox', environment);
  expect([code, out]).toEqual([0, expect.stringContaining('a worker is running this job')]);
  expect(await countOf(campaign, 'inbox')).toBe(3);
  await client.end();
});

test('a single job can be chosen, and an unknown job is refused', async () => {
  await fillCommon(campaign, 2);
  const { out } = await ops('purge --job purge-idempotency-keys', environment);
  expect(out.split('\n')).toHaveLength(registeredNames.length + 1);
  expect([await countOf(campaign, 'idempotency_keys'), await countOf(campaign, 'inbox')]).toEqual([1, 3]);
  expect((await ops('purge --job purge-all', environment)).code).toBe(2);
});
