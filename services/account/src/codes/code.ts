import { randomInt } from 'node:crypto';
import { Problem } from '@attribution/contracts';

export type CodePurpose = 'verify_email' | 'reset_password';

/** Number of digits, lifetime in minutes, and number of attempts of a code (spec §8; decision 12). */
export const codeRules = { length: 6, minutes: 10, attempts: 5 } as const;

export function newCode(): string {
  return String(randomInt(10 ** codeRules.length)).padStart(codeRules.length, '0');
}

/** Addresses that differ only in letter case belong to the same user. */
export function emailKeyOf(email: string): string {
  return email.normalize('NFKC').toLowerCase();
}

export interface LiveCode {
  /** The number of attempts, including the current one. */
  readonly attempts: number;
  readonly expires_at: Date;
  readonly used_at: Date | null;
}

/** Whether the code is expired or exhausted, so that it is not even compared. */
export const isDead = (code: LiveCode, now: Date): boolean =>
  code.expires_at <= now || code.attempts > codeRules.attempts;

/** The refusal of a code that does not match. The last allowed attempt gets `gone`. */
export function refuseWrongCode(code: LiveCode): Problem {
  if (code.attempts >= codeRules.attempts) return codeGone();
  return new Problem('validation-error', 'body.code: is not the code of the latest e-mail.');
}

export const codeGone = () =>
  new Problem('gone', 'This code has expired, was used, or was tried too often. Ask for a new one.');
