import type { KeyObject } from 'node:crypto';
import { readCsr, UnusableCsr } from '@attribution/certificates';
import { Problem } from '@attribution/contracts';

/** The key that a request is for. Throws `validation-error`. */
export function usableCsr(csr: string): KeyObject {
  try {
    return readCsr(csr);
  } catch (error) {
    if (error instanceof UnusableCsr) throw new Problem('validation-error', `body.csr: ${error.message}.`);
    throw error;
  }
}
