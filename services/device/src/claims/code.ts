import { createHash, randomInt } from 'node:crypto';
import { codeAlphabet, screenCodeLength } from '@attribution/contracts';

/** How long a screen code can be claimed by, in milliseconds. */
export const screenCodeMs = 60 * 60 * 1000;

export const hashOfCode = (code: string): string => createHash('sha256').update(code).digest('hex');

export const newScreenCode = (): string =>
  Array.from({ length: screenCodeLength }, () => codeAlphabet[randomInt(codeAlphabet.length)]).join('');

/** As a screen shows it: `XXXX-XXXX`. */
export const showScreenCode = (code: string): string => `${code.slice(0, 4)}-${code.slice(4)}`;
