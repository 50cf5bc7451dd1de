import { createHash, randomInt } from 'node:crypto';

const count = 10;
/**
 * Without letters and digits that are easily confused. 24 characters of 32 possible ones are 120 bits, which need no
 * slow hash (decision 52).
 */
const letters = 'abcdefghijkmnpqrstuvwxyz23456789';

function newRecoveryCode(): string {
  const groups = Array.from({ length: 6 }, () =>
    Array.from({ length: 4 }, () => letters[randomInt(letters.length)]).join(''),
  );
  return groups.join('-');
}

export const newRecoveryCodes = (): string[] => Array.from({ length: count }, newRecoveryCode);

/** Letter case, spaces and dashes are ignored. */
export const hashRecoveryCode = (code: string): string =>
  createHash('sha256').update(code.toLowerCase().replaceAll(/[\s-]/g, '')).digest('hex');
