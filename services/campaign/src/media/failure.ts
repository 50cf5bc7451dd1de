import type { MediaFailureCode } from '@attribution/contracts';

/** Why an asset can never be used. */
export interface Failure {
  readonly code: MediaFailureCode;
  readonly detail: string;
}

/** The file is at fault, so trying again would not help. */
export class BadContent extends Error {
  override readonly name = 'BadContent';
  readonly failure: Failure;

  constructor(code: MediaFailureCode, detail: string) {
    super(`${code}: ${detail}`);
    this.failure = { code, detail };
  }
}
