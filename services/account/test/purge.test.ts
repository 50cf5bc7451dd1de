import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { createVerifier } from '@attribution/auth';
import { type Envelope, resetPassword, verifyEmail } from '@attribution/contracts';
import { newUuid } from '@attribution/ids';
import { createInProcessTransport } from '@attribution/messaging';
import type { Service } from '@attribution/service';
import { eventually, openMailbox, problemBase, type TestService, testInternal, testKeys } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import account from '../src/index.ts';
import { count, enter, join, resetCode, signUp, startAccountService } from './support.ts';

let directory: string;
let service: TestService;
const published: Envelope[] = [];
const replicas: Service[] = [];

beforeAll(async () => {
  directory = await mkdtemp(joinPath(tmpdir(), 'test-mail-'));
  service = { ...(await startAccountService({ MAIL_DIR: directory })), mailbox: openMailbox(directory) };
});
afterEach(async () => {
  for (const replica of replicas.splice(0)) {
    await replica.drain(Date.now() + 1_000);
    await replica.close();
  }
});
afterAll(async () => {
  await service.stop();
  await rm(directory, { recursive: true });
});

/**
 * The purges run every hour and when a process starts, so this starts another process on the same database and clock.
 */
async function startReplica(): Promise<void> {
  const transport = createInProcessTransport();
  const replica = account.create(
    {
      databaseUrl: String(service.db.options.connectionString),
      transport: {
        ...transport,
        async publish(messages) {
          published.push(...messages.map(({ envelope }) => envelope));
          return transport.publish(messages);
        },
      },
      verifier: createVerifier(testKeys.public),
      internal: testInternal('account'),
      logger: service.logs.logger,
      problemBase,
      checkAnswers: true,
      clock: service.clock,
    },
    {
      ORGANIZATION_URL: 'http://127.0.0.1:1',
      PASSWORD_PEPPER: 'of no matter here: nobody logs in to it',
      SECRET_KEYS: Buffer.alloc(32, 7).toString('base64'),
      TOKEN_PRIVATE_KEYS: JSON.stringify(testKeys.private),
      MAIL_DIR: directory,
    },
  );
  await transport.start();
  replica.start();
  replicas.push(replica);
}

/** The events that both processes published for an account, oldest first. */
const publishedOf = (accountId: string) =>
  [...published, ...service.published]
    .filter(({ account_id }) => account_id === accountId)
    .sort((a, b) => a.occurred_at.localeCompare(b.occurred_at));

/** Starts housekeeping and waits until it has taken the user back. */
async function purge(userId: string): Promise<void> {
  await startReplica();
  await eventually(async () => expect(await count(service, 'users', 'id = $1', userId)).toBe(0));
}

test('a sign-up that was not verified for a week is deleted completely, and account.purged is published once', async () => {
  const { email, userId, accountId } = await signUp(service);
  await service.mailbox.codeFor(email);
  service.clock.advance({ days: 7, seconds: 1 });
  const code = await resetCode(service, email);
  await purge(userId);

  expect(await count(service, 'accounts', 'id = $1', accountId)).toBe(0);
  for (const table of ['memberships', 'balances', 'ledger_entries', 'token_grants']) {
    expect(await count(service, table, 'account_id = $1', accountId)).toBe(0);
  }
  expect(await count(service, 'email_codes', 'email_key = $1', email)).toBe(0);
  const late = await service.client.call(resetPassword, { body: { email, code, new_password: 'eight loud trumpets' } });
  expect([late.status, late.problem?.kind]).toEqual([400, 'validation-error']);

  await eventually(() => expect(publishedOf(accountId)).toHaveLength(3));
  expect(publishedOf(accountId)[2]).toEqual({
    event_id: expect.any(String),
    type: 'account.purged',
    version: 1,
    account_id: accountId,
    key: accountId,
    occurred_at: expect.stringMatching(/Z$/),
    traceparent: null,
    data: { account_id: accountId },
  });
});

test('202: the address of a deleted sign-up can sign up again', async () => {
  const { email, userId } = await signUp(service);
  service.clock.advance({ days: 7, seconds: 1 });
  await purge(userId);
  const again = await signUp(service, email);
  expect(again.userId).not.toBe(userId);
  const code = await service.mailbox.codeFor(email, 2);
  expect((await service.client.call(verifyEmail, { body: { email, code } })).status).toBe(200);
});

test('a sign-up younger than a week stays, and a verified user stays forever', async () => {
  const verified = await join(service);
  const stale = await signUp(service);
  service.clock.advance({ days: 3 });
  const young = await signUp(service);
  service.clock.advance({ days: 4, seconds: 1 });
  await purge(stale.userId);

  for (const { userId, accountId } of [verified, young]) {
    expect(await count(service, 'users', 'id = $1', userId)).toBe(1);
    expect(await count(service, 'ledger_entries', 'account_id = $1', accountId)).toBe(1);
    expect(publishedOf(accountId).map(({ type }) => type)).toEqual(['account.created', 'tokens.granted']);
  }
  expect((await enter(service, verified.email)).user.id).toBe(verified.userId);
});

test('more sign-ups than fit into one transaction are deleted in one run', async () => {
  await service.db.query(
    `INSERT INTO users (id, email, email_key, full_name, password_hash, created_at, updated_at)
     SELECT 'usr_' || n, n || '@example.org', n || '@example.org', 'Nobody', '', $1, $1 FROM generate_series(1, 250) AS n`,
    [new Date(service.clock.now().getTime() - 8 * 24 * 60 * 60 * 1000)],
  );
  await startReplica();
  await eventually(async () => expect(await count(service, 'users', "email LIKE '%@example.org'")).toBe(0));
});

test('long-expired codes and challenges, and sessions that no token can refresh, are deleted; others stay', async () => {
  const old = await join(service);
  service.clock.advance({ days: 31, seconds: 1 });
  const young = await join(service);
  for (const { userId } of [old, young]) {
    await service.db.query(
      `INSERT INTO mfa_challenges (id, user_id, expires_at) VALUES (uuidv7(), $1, $2::timestamptz - $3::interval)`,
      [userId, service.clock.now(), userId === old.userId ? '2 days' : '1 hour'],
    );
    await service.db.query(
      `INSERT INTO mail_budgets VALUES ('codes', $1, 1, $2::timestamptz, 1, $2::timestamptz + $3::interval)`,
      [userId, service.clock.now(), userId === old.userId ? '-1 second' : '1 hour'],
    );
    await service.db.query(
      `INSERT INTO sign_in_ranges VALUES ($1, '198.51.100.0/24', $2::timestamptz - $3::interval)`,
      [userId, service.clock.now(), userId === old.userId ? '181 days' : '179 days'],
    );
  }
  const spent = await count(service, 'email_codes', 'email_key = $1', old.email);
  expect(spent).toBe(1);
  await startReplica();
  await eventually(async () => {
    expect(await count(service, 'sessions', 'user_id = $1', old.userId)).toBe(0);
    expect(await count(service, 'email_codes', 'email_key = $1', old.email)).toBe(0);
    expect(await count(service, 'mfa_challenges', 'user_id = $1', old.userId)).toBe(0);
    expect(await count(service, 'sign_in_ranges', 'user_id = $1', old.userId)).toBe(1);
    expect(await count(service, 'mail_budgets', 'recipient = $1', old.userId)).toBe(0);
  });
  expect(await count(service, 'mfa_challenges', 'user_id = $1', young.userId)).toBe(1);
  expect(await count(service, 'sign_in_ranges', 'user_id = $1', young.userId)).toBe(2);
  expect(await count(service, 'mail_budgets', 'recipient = $1', young.userId)).toBe(1);
  expect(await count(service, 'refresh_tokens', 'id = $1', old.session.refresh_token.split('.')[0])).toBe(0);
  expect(await count(service, 'users', 'id = $1', old.userId)).toBe(1);
  expect(await count(service, 'sessions', 'user_id = $1', young.userId)).toBe(1);
  expect(await count(service, 'email_codes', 'email_key = $1', young.email)).toBe(1);
});

test('guesses at addresses are forgotten after a day, known clients after 30 days, and locked addresses after a year', async () => {
  const put = (mark: string, days: number, fields: { signedIn?: boolean; wrongPasswords?: number } = {}) => {
    const at = new Date(service.clock.now().getTime() - days * 24 * 60 * 60 * 1000);
    return service.db.query(
      `INSERT INTO guess_budgets (address_mark, network_mark, wrong, wrong_passwords, signed_in_at, touched_at) VALUES ($1, '', 1, $2, $3, $4)`,
      [mark, fields.wrongPasswords ?? 1, fields.signedIn ? at : null, at],
    );
  };
  await put('purged: few', 2);
  await put('purged: known client', 32, { signedIn: true });
  await put('purged: locked', 367, { wrongPasswords: 100 });
  await put('kept: few', 0.9);
  await put('kept: known client', 30, { signedIn: true });
  await put('kept: locked', 364, { wrongPasswords: 100 });
  await startReplica();
  await eventually(async () => expect(await count(service, 'guess_budgets', "address_mark LIKE 'purged%'")).toBe(0));
  expect(await count(service, 'guess_budgets', "address_mark LIKE 'kept%'")).toBe(3);
});

test('the range of the last sign-in is remembered, however long ago it was', async () => {
  const [away, gone] = [await join(service), await join(service)];
  await service.db.query("UPDATE sign_in_ranges SET last_seen_at = '2020-01-01'");
  await service.db.query("INSERT INTO sign_in_ranges VALUES ($1, '198.51.100.0/24', '2019-01-01')", [gone.userId]);
  await startReplica();
  const rangesOf = ({ userId }: { userId: string }) => count(service, 'sign_in_ranges', 'user_id = $1', userId);
  await eventually(async () => expect(await rangesOf(gone)).toBe(1));
  expect(await rangesOf(away)).toBe(1);
});

test('a session in use is not deleted, however old it is', async () => {
  const { session, userId } = await join(service);
  await service.db.query("UPDATE sessions SET created_at = '2020-01-01' WHERE user_id = $1", [userId]);
  const unused = newUuid();
  await service.db.query(
    `INSERT INTO sessions (id, user_id, account_id, ip, created_at, last_used_at) VALUES ($1, $2, $3, '', '2020-01-01', '2020-01-01')`,
    [unused, userId, session.account.id],
  );
  await startReplica();
  await eventually(async () => expect(await count(service, 'sessions', 'id = $1', unused)).toBe(0));
  expect(await count(service, 'sessions', 'user_id = $1', userId)).toBe(1);
});
