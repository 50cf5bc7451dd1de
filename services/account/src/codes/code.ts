import { randomInt } from 'node:crypto';
import { Problem } from '@attribution/contracts';

export type CodePurpose = 'verify_email' | 'reset_password';

/** Digits of a code, minutes it lives, attempts it takes (spec §8; decision 12). */
export const codeRules = { length: 6, minutes: 10, attempts: 5 } as const;

export function newCode(): string {
  return String(randomInt(10 ** codeRules.length)).padStart(codeRules.length, '0');
}

/** The letter case of an address tells nobody apart. */
export function emailKeyOf(email: string): string {
  return email.normalize('NFKC').toLowerCase();
}

export interface LiveCode {
  /** The attempts made, this one among them. */
  readonly attempts: number;
  readonly expires_at: Date;
  readonly used_at: Date | null;
}

/** Whether an attempt is not even compared. */
export const isDead = (code: LiveCode, now: Date): boolean =>
  code.expires_at <= now || code.attempts > codeRules.attempts;

/** The refusal of a code that does not match: the attempt that exhausts it is told so. */
export function refuseWrongCode(code: LiveCode): Problem {
  if (code.attempts >= codeRules.attempts) return codeGone();
  return new Problem('validation-error', 'body.code: is not the code of the latest e-mail.');
}

export const codeGone = () =>
  new Problem('gone', 'This code has expired, was used, or was tried too often. Ask for a new one.');
