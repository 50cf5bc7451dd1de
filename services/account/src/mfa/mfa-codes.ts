import type { Tx } from '../store.ts';
import type { Vault } from '../vault.ts';
import { acceptStep, useRecoveryCode } from './mfa.store.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import { totpStep } from './totp.ts';

/** What a TOTP secret is encrypted for. */
const purpose = (userId: string) => `totp:${userId}`;

interface Enrolment {
  readonly user_id: string;
  readonly secret: Uint8Array;
}

/** Judges codes of authenticators, and recovery codes in their place. Each is accepted once. */
export interface MfaCodes {
  seal(userId: string, secret: string): Uint8Array<ArrayBuffer>;
  /** True: the code was right, and is spent in this transaction. */
  use(tx: Tx, enrolment: Enrolment, code: string, now: Date): Promise<boolean>;
  /** The same, of the authenticator alone. */
  useTotp(tx: Tx, enrolment: Enrolment, code: string, now: Date): Promise<boolean>;
}

export function createMfaCodes(vault: Vault): MfaCodes {
  const codes: MfaCodes = {
    seal: (userId, secret) => vault.encrypt(secret, purpose(userId)),
    async use(tx, enrolment, code, now) {
      if (/^\d{6}$/.test(code)) return codes.useTotp(tx, enrolment, code, now);
      return useRecoveryCode(tx, enrolment.user_id, hashRecoveryCode(code), now);
    },
    async useTotp(tx, { user_id, secret }, code, now) {
      const step = totpStep(vault.decrypt(secret, purpose(user_id)), code, now);
      return step !== undefined && acceptStep(tx, user_id, step);
    },
  };
  return codes;
}
