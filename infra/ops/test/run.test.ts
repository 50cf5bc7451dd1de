import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { commands } from '../src/commands/index.ts';
import { createRedactor, withoutSecrets } from '../src/redact.ts';
import { noteRunning } from '../src/running.ts';
import { openServiceDatabase, ops } from './support.ts';

const root = join(import.meta.dirname, '../../..');

test('help lists every command, and each has help of its own', async () => {
  const { code, out } = await ops('help');
  expect(code).toBe(0);
  for (const { name, summary } of commands) {
    expect(out).toContain(`${name.padEnd(16)}${summary}`);
    const own = await ops(`${name} --help`);
    expect([own.code, own.out]).toEqual([0, expect.stringContaining(`Usage: ops ${name}`)]);
  }
});

test.each([
  ['', /./],
  ['migarte', /no command migarte/],
  ['migrate --dryrun', /Unknown option '--dryrun'/],
  ['dead-letters', /list\|show\|replay/],
  ['dead-letters replay', /Name the service/],
  ['rebuild campaign', /Name the projection/],
  ['rotate-keys --in soon', /--in: is a whole number/],
  ['purge', /Nothing runs here/],
])('the wrong command "%s" is refused with exit code 2 and a reason', async (words, why) => {
  const { code, out, err } = await ops(words);
  expect([code, out + err]).toEqual([2, expect.stringMatching(why)]);
});

test('a database that does not answer and one that denies access give different errors, and neither shows a password', async () => {
  const away = 'postgresql://account:very-secret@127.0.0.1:1/account';
  const refused = await ops('dead-letters list account', { ACCOUNT_DATABASE_URL: away });
  expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/^✗ account: no answer: .*ECONNREFUSED/)]);
  const database = await openServiceDatabase('account');
  const url = new URL(database.url);
  url.username = 'nobody';
  url.password = 'very-secret';
  const stranger = await ops('migrate account', { ACCOUNT_DATABASE_URL: url.href });
  expect(stranger.code).toBe(1);
  for (const { out, err } of [refused, stranger]) expect(out + err).not.toContain('very-secret');
  await database.drop();
});

test('when the database of one service is down, the other services are still processed', async () => {
  const database = await openServiceDatabase('campaign');
  const { code, out, err } = await ops('dead-letters list', {
    ...database.environment,
    ACCOUNT_DATABASE_URL: 'postgresql://x:y@127.0.0.1:1/x',
  });
  expect([code, out, err]).toEqual([1, 'campaign: no dead letters', expect.stringMatching(/^✗ account: no answer/)]);
  await database.drop();
});

test('as a program it finds the databases of the platform that runs in LOCAL_DIR', async () => {
  const [directory, database] = [await mkdtemp(join(tmpdir(), 'ops-')), await openServiceDatabase('campaign')];
  await noteRunning(directory, { databases: { campaign: database.url }, environment: {} });
  const environment = { PATH: process.env.PATH, LOCAL_DIR: directory };
  const args = ['--disable-warning=ExperimentalWarning', 'infra/ops/src/main.ts', 'migrate', '--dry-run'];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: root, env: environment });
  expect(stdout).toBe('campaign: up to date\n');
  await database.drop();
  await rm(directory, { recursive: true });
});

test('passwords and secret values are masked in every line', () => {
  const redact = createRedactor({
    PASSWORD_PEPPER: 'pepper-of-worth',
    SECRET_KEYS: 'first-key,other-key',
    PORT: '8080',
  });
  expect(redact('postgresql://a:b@c/d and pepper-of-worth, first-key, 8080')).toBe(
    'postgresql://a:***@c/d and ***, ***, 8080',
  );
  expect(withoutSecrets({ data: [{ email: 'a@b', access_token: 'x', token_amount: 3, code: null }] })).toEqual({
    data: [{ email: '[redacted]', access_token: '[redacted]', token_amount: 3, code: null }],
  });
});
