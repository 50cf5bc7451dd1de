import type { TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { codeUses, count, newEmail, type RawAnswer, rows, signUp, startAccountService, wrong } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startAccountService();
});
afterAll(() => service.stop());

const kindOf = ({ text }: { text: string }) => String(JSON.parse(text).type).split('/').at(-1);

describe.each(codeUses)('a code of $purpose', (use) => {
  const attempt = (email: string, code: string) => use.attempt(service, email, code);

  test('works once: the second use is 410', async () => {
    const { email, code } = await use.open(service);
    expect((await attempt(email, code)).status).toBe(use.right);
    const again = await attempt(email, code);
    expect([again.status, kindOf(again)]).toEqual([410, 'gone']);
  });

  test('that was used gets 410 itself; any other code gets the response of an unknown address', async () => {
    const { email, code } = await use.open(service);
    for (let i = 0; i < 3; i++) await attempt(email, wrong(code));
    expect((await attempt(email, code)).status).toBe(use.right);
    // The time begins anew with the first of them, as it does for an address that never had a code.
    service.clock.advance({ minutes: 10 });
    const unknown = newEmail();
    const tries = async (other: string) => {
      const seen: RawAnswer[] = [];
      for (const address of [email, unknown]) seen.push(await attempt(address, other));
      return seen;
    };
    const statuses: number[] = [];
    for (let i = 0; i < 7; i++) {
      if (i === 2) service.clock.advance({ minutes: 9 });
      const [used, ofNobody] = await tries(wrong(code));
      expect(used).toEqual(ofNobody);
      statuses.push(used?.status ?? 0);
      if (i === 0) expect((await attempt(email, code)).status).toBe(410);
      if (i === 0) await attempt(unknown, wrong(code));
    }
    expect(statuses).toEqual([400, 400, 400, 410, 410, 410, 410]);
    service.clock.advance({ minutes: 1 });
    const [late, lateOfNobody] = await tries(wrong(code));
    expect([late?.status, late]).toEqual([410, lateOfNobody]);
  });

  test('works at the fifth attempt, after four wrong ones with 400', async () => {
    const { email, code } = await use.open(service);
    for (let i = 0; i < 4; i++) {
      const { status, text } = await attempt(email, wrong(code));
      expect([status, JSON.parse(text).detail]).toEqual([400, 'body.code: is not the code of the latest e-mail.']);
    }
    expect((await attempt(email, code)).status).toBe(use.right);
  });

  test('is exhausted by the fifth wrong attempt, which is 410, as is the right code afterwards', async () => {
    const { email, code } = await use.open(service);
    const statuses: number[] = [];
    for (let i = 0; i < 6; i++) statuses.push((await attempt(email, wrong(code))).status);
    expect(statuses).toEqual([400, 400, 400, 400, 410, 410]);
    const right = await attempt(email, code);
    expect([right.status, kindOf(right)]).toEqual([410, 'gone']);
  });

  test('is valid for 10 minutes', async () => {
    const { email, code } = await use.open(service);
    const { email: other, code: otherCode } = await use.open(service);
    service.clock.advance({ minutes: 9, seconds: 30 });
    expect((await attempt(other, otherCode)).status).toBe(use.right);
    service.clock.advance({ seconds: 30 });
    const late = await attempt(email, code);
    expect([late.status, kindOf(late)]).toEqual([410, 'gone']);
  });

  test('is replaced by the next one, which has five attempts of its own', async () => {
    const { email, code, sent } = await use.open(service);
    for (let i = 0; i < 5; i++) await attempt(email, wrong(code));
    await use.again(service, email);
    const next = await service.mailbox.codeFor(email, sent + 1);
    // Two consecutive codes are equal once in a million times; then the old one is not wrong.
    if (next !== code) expect((await attempt(email, code)).status).toBe(400);
    else expect((await attempt(email, wrong(code))).status).toBe(400);
    expect((await attempt(email, next)).status).toBe(use.right);
  });

  test('is stored as a slow salted hash only', async () => {
    const { email, code } = await use.open(service);
    const [row] = await rows<{ code_hash: string }>(
      service,
      'SELECT * FROM email_codes WHERE email_key = $1 AND purpose = $2::"CodePurpose"',
      email,
      use.purpose,
    );
    expect(row?.code_hash).toMatch(/^[0-9a-f]{8}\$2b\$/);
    expect(JSON.stringify(row)).not.toContain(`"${code}"`);
  });
});

test('a code for one purpose is wrong for the other, and its attempts are not counted there', async () => {
  const [verifyEmail, resetPassword] = codeUses;
  if (!verifyEmail || !resetPassword) throw new Error('There are two uses');
  const { email, code: verification, sent } = await verifyEmail.open(service);
  await resetPassword.again(service, email);
  const reset = await service.mailbox.codeFor(email, sent + 1);
  if (reset === verification) return; // Once in a million.

  for (let i = 0; i < 4; i++) {
    expect((await verifyEmail.attempt(service, email, reset)).status).toBe(400);
    expect((await resetPassword.attempt(service, email, verification)).status).toBe(400);
  }
  expect((await verifyEmail.attempt(service, email, verification)).status).toBe(200);
  expect((await resetPassword.attempt(service, email, reset)).status).toBe(204);
});

test('a code of one address does not work for another', async () => {
  const [verifyEmail] = codeUses;
  const mine = await verifyEmail?.open(service);
  const { email } = await signUp(service);
  await service.mailbox.codeFor(email);
  const { status } = (await verifyEmail?.attempt(service, email, mine?.code ?? '')) ?? {};
  expect(status).toBe(400);
  expect(await count(service, 'users', 'email = $1 AND email_verified_at IS NULL', email)).toBe(1);
});
