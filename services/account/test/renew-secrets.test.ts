import { type TestService, testKeys } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import account from '../src/index.ts';
import { createVault } from '../src/vault.ts';
import { rows, startAccountService } from './support.ts';

const [oldKey, newKey] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64')) as [string, string];
const users = Array.from({ length: 1_103 }, (_, at) => `usr_${String(at).padStart(5, '0')}`);
const purpose = (user: string) => `totp:${user}`;

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
  const [before, after] = [createVault([oldKey]), createVault([newKey])];
  await service.db.query(
    `INSERT INTO users (id, email, email_key, full_name, password_hash, created_at, updated_at)
     SELECT id, id || '@example.com', id || '@example.com', 'Ada', '', now(), now() FROM unnest($1::text[]) AS id`,
    [users],
  );
  await service.db.query(
    `INSERT INTO mfa_enrolments (user_id, secret, last_step, created_at)
     SELECT id, secret, 0, now() FROM unnest($1::text[], $2::bytea[]) AS u (id, secret)`,
    [users, users.map((user, at) => (at < 3 ? after : before).encrypt(`secret of ${user}`, purpose(user)))],
  );
});
afterAll(() => service.stop());

const stored = () =>
  rows<{ user_id: string; secret: Buffer }>(service, 'SELECT user_id, secret FROM mfa_enrolments ORDER BY 1');

async function renew(dryRun: boolean): Promise<number | undefined> {
  const operations = account.openOperations({
    url: String(service.db.options.connectionString),
    clock: service.clock,
    environment: {
      TOKEN_PRIVATE_KEYS: JSON.stringify(testKeys.private),
      PASSWORD_PEPPER: 'of no matter here: nobody logs in to it',
      MAIL_DIR: '/nowhere',
      SECRET_KEYS: `${newKey},${oldKey}`,
    },
  });
  try {
    return await operations.renewSecrets?.({ dryRun, progress() {} });
  } finally {
    await operations.close();
  }
}

test('all TOTP secrets of older keys are encrypted with the first key, and read as before; a dry run only counts them', async () => {
  const before = await stored();
  expect(await renew(true)).toBe(1_100);
  expect(await stored()).toEqual(before);
  // Two commands at once encrypt each secret once or twice, never wrongly.
  await Promise.all([renew(false), renew(false)]);
  const newOnly = createVault([newKey]);
  for (const { user_id, secret } of await stored())
    expect(newOnly.decrypt(secret, purpose(user_id))).toBe(`secret of ${user_id}`);
  expect(await renew(false)).toBe(0);
});
