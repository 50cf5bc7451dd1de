import { dictionary } from '@zxcvbn-ts/language-common';
import { platformName } from '../platform-name.ts';

const commonPasswords = new Set(dictionary['passwords-common']);

const maxLength = 128;

/** The normal form in which a password is counted, compared and hashed, however it was typed. */
export function normalizePassword(password: string): string {
  return password.normalize('NFKC');
}

/**
 * Why a new password of the user with the address is refused, or undefined when it is accepted. No composition rules
 * (NIST SP 800-63B §3.1.1).
 */
export function refusePassword(password: string, minLength: number, email?: string): string | undefined {
  const normal = normalizePassword(password);
  const characters = [...normal.toLowerCase()];
  const length = [...normal].length;
  if (length < minLength) return `must have at least ${minLength} characters`;
  if (length > maxLength) return `must have at most ${maxLength} characters`;
  if (commonPasswords.has(normal.toLowerCase())) return 'is one of the most common passwords';
  if (new Set(characters).size === 1) return 'is one character over and over';
  const bare = bareText(normal);
  if (bare !== '' && bare === bareText(platformName)) return 'is the name of this platform';
  if (bare !== '' && email !== undefined && namesIn(email).includes(bare)) return 'is your e-mail address';
  return undefined;
}

/** Letters and digits alone, in lower case. */
const bareText = (text: string) =>
  normalizePassword(text)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]/gu, '');

/** The address, its local part, and that without what follows a plus sign. */
function namesIn(email: string): string[] {
  const local = email.slice(0, email.lastIndexOf('@'));
  return [email, local, local.split('+', 1)[0] ?? ''].map(bareText);
}
