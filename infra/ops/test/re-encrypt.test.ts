import { testKeys } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type OpenDatabase, openServiceDatabase, ops } from './support.ts';

let database: OpenDatabase;
let environment: Record<string, string>;
beforeAll(async () => {
  database = await openServiceDatabase('account');
  environment = {
    ...database.environment,
    TOKEN_PRIVATE_KEYS: JSON.stringify(testKeys.private),
    PASSWORD_PEPPER: 'of no matter here: nobody logs in to it',
    MAIL_DIR: '/nowhere',
    SECRET_KEYS: Buffer.alloc(32, 7).toString('base64'),
  };
  const user = `INSERT INTO users (id, email, email_key, full_name, password_hash, created_at, updated_at)
    VALUES ('usr_1', 'ada@example.com', 'ada@example.com', 'Ada', '', now(), now())`;
  await database.rows(user);
});
afterAll(() => database.drop());

test('says how many secrets it encrypted anew, or would', async () => {
  expect(await ops('re-encrypt', environment)).toEqual({
    code: 0,
    out: 'account: 0 secrets were encrypted anew',
    err: '',
  });
  expect((await ops('re-encrypt account --dry-run', environment)).out).toBe(
    'account: 0 secrets would be encrypted anew',
  );
});

test('a secret that none of the keys encrypted is a failure, which says why', async () => {
  const sealed = `INSERT INTO mfa_enrolments (user_id, secret, last_step, created_at) VALUES ('usr_1', '\\x00', 0, now())`;
  await database.rows(sealed);
  expect(await ops('re-encrypt', environment)).toMatchObject({
    code: 1,
    err: expect.stringContaining('Encrypted with a key that is not configured'),
  });
});

test('a service without secrets is named', async () => {
  const { code, err } = await ops('re-encrypt campaign', { CAMPAIGN_DATABASE_URL: database.url });
  expect([code, err]).toEqual([2, expect.stringContaining('campaign encrypts no secrets.')]);
});
