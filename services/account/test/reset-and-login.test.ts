import { resetPassword } from '@attribution/contracts';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  enter,
  join,
  logIn,
  password,
  refresh,
  requireSession,
  resetCode,
  rows,
  startAccountService,
} from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const reset = (email: string, code: string) =>
  service.client.call(resetPassword, { body: { email, code, new_password: 'eight loud trumpets' } });

/** Waits until that many statements of the service stand before a lock. */
const standing = (number: number) =>
  eventually(async () => {
    const waiting = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    expect((await rows(service, waiting)).length).toBeGreaterThanOrEqual(number);
  });

/** Runs `work` while a row is locked from outside. */
async function holding(sql: string, id: string, work: () => Promise<void>): Promise<void> {
  const outside = await service.db.connect();
  try {
    await outside.query('BEGIN');
    await outside.query(sql, [id]);
    await work();
  } finally {
    await outside.query('COMMIT');
    outside.release();
  }
}

test('a login that checked the old password before a reset opens no session that survives the reset', async () => {
  const { email, accountId } = await join(service);
  const code = await resetCode(service, email);
  const started: { login?: ReturnType<typeof logIn>; reset?: ReturnType<typeof reset> } = {};
  // The login waits for the account's row just where it writes its session.
  await holding('SELECT FROM accounts WHERE id = $1 FOR UPDATE', accountId, async () => {
    started.login = logIn(service, email, password);
    await standing(1);
    started.reset = reset(email, code);
    await Promise.race([started.reset, standing(2)]);
  });
  expect((await started.reset)?.status).toBe(204);
  const { refresh_token } = requireSession((await started.login)?.body ?? {});
  expect((await refresh(service, refresh_token)).status).toBe(401);
});

test('401: a login with the old password during a reset', async () => {
  const { email, userId } = await join(service);
  const code = await resetCode(service, email);
  const started: { login?: ReturnType<typeof logIn>; reset?: ReturnType<typeof reset> } = {};
  // The reset waits for a session of the user just where it ends them, when the new password is written.
  await holding('SELECT FROM sessions WHERE user_id = $1 FOR UPDATE', userId, async () => {
    started.reset = reset(email, code);
    await standing(1);
    started.login = logIn(service, email, password);
    await Promise.race([started.login, standing(2)]);
  });
  expect((await started.reset)?.status).toBe(204);
  expect((await started.login)?.problem).toMatchObject({
    kind: 'unauthorized',
    detail: 'The address or the password is wrong.',
  });
  await enter(service, email, 'eight loud trumpets');
});
