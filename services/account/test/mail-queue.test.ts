import { mkdir, mkdtemp, readdir, rm, unlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { forgotPassword, signup } from '@attribution/contracts';
import { eventually, openMailbox, type TestService } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { createVault } from '../src/vault.ts';
import { count, fullName, newEmail, password, rows, signUp, startAccountService } from './support.ts';

let service: TestService;
let folder: string;
let blocker: string;
let directory: string;

// The folder for messages is inside a file, so that it cannot be created.
beforeAll(async () => {
  folder = await mkdtemp(joinPath(tmpdir(), 'test-mail-blocked-'));
  blocker = joinPath(folder, 'not-a-folder');
  directory = joinPath(blocker, 'mail');
  service = await startAccountService({ MAIL_DIR: directory });
});
beforeEach(() => writeFile(blocker, ''));
afterEach(async () => {
  await service.db.query('DELETE FROM queued_mails');
  await rm(blocker, { recursive: true });
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

interface Queued {
  readonly id: string;
  readonly content: Buffer;
  readonly attempts: number;
  readonly last_error: string | null;
  readonly next_attempt_at: Date;
}

/** Waits until the only message in the queue has failed this many times, and returns it. */
const queuedAfter = (attempts: number) =>
  eventually(async () => {
    const found = await rows<Queued>(service, 'SELECT * FROM queued_mails WHERE attempts >= $1', attempts);
    expect(found).toHaveLength(1);
    return found[0] as Queued;
  });

async function makeWritable(): Promise<void> {
  await unlink(blocker);
  await mkdir(blocker);
}

test('202: a sign-up succeeds while messages cannot be written; the queue delivers when they can', async () => {
  const { email } = await signUp(service);
  const queued = await queuedAfter(1);
  expect(queued.last_error).toContain('ENOTDIR');
  expect(service.logs.text()).toContain('A message could not be sent');

  await makeWritable();
  service.clock.advance({ seconds: 5 });
  const code = await openMailbox(directory).codeFor(email);
  expect(code).toMatch(/^\d{6}$/);
  await eventually(async () => expect(await count(service, 'queued_mails')).toBe(0));
  expect(await openMailbox(directory).messagesTo(email)).toHaveLength(1);
});

test('the delays between attempts double from 5 seconds to 10 minutes', async () => {
  const before = service.clock.now().getTime();
  const attempts = [0, 1, 2, 6, 7, 40];
  await service.db.query(
    "INSERT INTO queued_mails (content, attempts, next_attempt_at, created_at) SELECT '\\x00', n, $1, $1 FROM unnest($2::int[]) AS n",
    [service.clock.now(), attempts],
  );
  const failed = await eventually(async () => {
    const found = await rows<Queued>(
      service,
      'SELECT * FROM queued_mails WHERE last_error IS NOT NULL ORDER BY attempts',
    );
    expect(found.map((mail) => mail.attempts)).toEqual(attempts.map((made) => made + 1));
    return found;
  });
  const after = service.clock.now().getTime();
  for (const [at, seconds] of [5, 10, 20, 320, 600, 600].entries()) {
    const next = failed[at]?.next_attempt_at.getTime() ?? 0;
    expect(next).toBeGreaterThanOrEqual(before + seconds * 1000);
    expect(next).toBeLessThanOrEqual(after + seconds * 1000);
  }
});

test('queued messages are encrypted: no code, address or name is readable in the table', async () => {
  const { email } = await signUp(service);
  const { content, last_error } = await queuedAfter(1);
  const vault = createVault([Buffer.alloc(32, 7).toString('base64')]);
  const mail = JSON.parse(vault.decrypt(content, 'queued mail')) as { to: string; text: string };
  const code = /^\d{6}$/m.exec(mail.text)?.[0] ?? '';
  expect([mail.to, code]).toEqual([email, expect.stringMatching(/^\d{6}$/)]);
  for (const hidden of [code, email, fullName, 'verification']) {
    expect(content.includes(hidden)).toBe(false);
    expect(String(last_error)).not.toContain(hidden);
  }
});

test('several messages wait, and each is delivered once', async () => {
  const [ada, bob] = [await signUp(service), await signUp(service)];
  await eventually(async () => expect(await count(service, 'queued_mails', 'attempts > 0')).toBe(2));
  await makeWritable();
  service.clock.advance({ seconds: 10 });
  await eventually(async () => expect(await count(service, 'queued_mails')).toBe(0));
  for (const { email } of [ada, bob]) expect(await openMailbox(directory).messagesTo(email)).toHaveLength(1);
});

test('a message that cannot be sent does not block others', async () => {
  await service.db.query("INSERT INTO queued_mails (content, next_attempt_at, created_at) VALUES ('\\x00', $1, $1)", [
    service.clock.now(),
  ]);
  await queuedAfter(1);
  await makeWritable();
  const { email } = await signUp(service);
  await openMailbox(directory).codeFor(email);
  expect(await count(service, 'queued_mails')).toBe(1);
});

test('a message that could not be sent for a day is dropped', async () => {
  await signUp(service);
  const { id } = await queuedAfter(1);
  service.clock.advance({ days: 1, minutes: 1 });
  await eventually(async () => expect(await count(service, 'queued_mails', 'id = $1', id)).toBe(0));
  expect(service.logs.text()).toContain('"expired":true');
});

test('the message to an address that is too long for a file name is delivered, and no log contains the address', async () => {
  await makeWritable();
  const email = `${newEmail().split('@')[0]}@${'long.'.repeat(44)}example.com`;
  expect(email.length).toBeGreaterThan(230);
  await service.client.call(signup, { body: { email, password, full_name: fullName } });
  await eventually(async () => expect(await count(service, 'queued_mails')).toBe(0));
  const names = await readdir(directory);
  expect(names.filter((name) => name.includes(email.slice(0, 40)) && !name.startsWith('.'))).toHaveLength(1);
  expect(service.logs.text()).not.toContain(email);
});

test('202: a reset code is queued too', async () => {
  await makeWritable();
  const { email } = await signUp(service);
  await openMailbox(directory).codeFor(email);
  await rm(blocker, { recursive: true });
  await writeFile(blocker, '');
  expect((await service.client.call(forgotPassword, { body: { email } })).status).toBe(202);
  await queuedAfter(1);
});
