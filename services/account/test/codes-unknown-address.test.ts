import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import {
  type CodeUse,
  codeUses,
  join,
  newEmail,
  type RawAnswer,
  signUp,
  startAccountService,
  wrong,
} from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

/**
 * Everything about an address that is visible from outside: responses to wrong codes up to and beyond the limit, late
 * codes, a new code, and wrong ones again.
 */
async function wholeSequence(
  use: CodeUse,
  addresses: readonly { email: string; code: string }[],
): Promise<RawAnswer[][]> {
  const seen: RawAnswer[][] = addresses.map(() => []);
  const onEach = async (call: (email: string, code: string) => Promise<unknown>) => {
    for (const [at, { email, code }] of addresses.entries()) seen[at]?.push((await call(email, code)) as RawAnswer);
  };
  const tries = async (times: number) => {
    for (let i = 0; i < times; i++) await onEach((email, code) => use.attempt(service, email, code));
  };
  await tries(7);
  await onEach((email) => use.again(service, email));
  await tries(2);
  service.clock.advance({ minutes: 10, seconds: 1 });
  await tries(2);
  await onEach((email) => use.again(service, email));
  await tries(6);
  return seen;
}

describe.each(codeUses)('$purpose', (use) => {
  test('an unknown address is counted, refused and exhausted exactly like a known one', async () => {
    const known = await use.open(service);
    const code = wrong(known.code);
    // Verified more than a day ago, so that the used code is purged, and never asked for a reset code.
    const silent = await join(service);
    await service.db.query('DELETE FROM email_codes WHERE email_key = $1', [silent.email]);
    const disabled = await signUp(service);
    await service.db.query('UPDATE users SET disabled_at = now() WHERE id = $1', [disabled.userId]);

    const addresses = [known.email, newEmail(), silent.email, disabled.email].map((email) => ({ email, code }));
    const [ofKnown, ...others] = await wholeSequence(use, addresses);
    const statuses = ofKnown?.map(({ status }) => status);
    const exhausted = [400, 400, 400, 400, 410];
    // A new code would be hit by chance once in a million tries.
    expect(statuses).toEqual([...exhausted, 410, 410, 202, 400, 400, 410, 410, 202, ...exhausted, 410]);
    for (const answers of others) expect(answers).toEqual(ofKnown);
  });

  test('an unknown address that never requested a code is exhausted for everybody, until a code is sent', async () => {
    const email = newEmail();
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) statuses.push((await use.attempt(service, email, String(100_000 + i))).status);
    expect(statuses).toEqual([400, 400, 400, 400, 410, 410]);
    expect((await use.attempt(service, email.toUpperCase(), '123456')).status).toBe(410);
  });
});
