import { dictionary } from '@zxcvbn-ts/language-common';

const commonPasswords = new Set(dictionary['passwords-common']);

const maxLength = 128;

/** The normal form in which a password is counted, compared and hashed, however it was typed. */
export function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}

/** Why a new password is refused, or undefined when it is accepted. No composition rules (NIST SP 800-63B §3.1.1). */
export function refusePassword(password: string, minLength: number): string | undefined {
  const normal = normalizePassword(password);
  const length = [...normal].length;
  if (length < minLength) return `must have at least ${minLength} characters`;
  if (length > maxLength) return `must have at most ${maxLength} characters`;
  if (commonPasswords.has(normal.toLowerCase())) return 'is one of the most common passwords';
  return undefined;
}
