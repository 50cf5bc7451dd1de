import type { Tx } from '../store.ts';
import type { Vault } from '../vault.ts';
import { acceptStep, useRecoveryCode } from './mfa.store.ts';
import { hashRecoveryCode } from './recovery-codes.ts';
import { totpStep } from './totp.ts';

/** The purpose that a TOTP secret is encrypted for. */
export const totpPurpose = (userId: string) => `totp:${userId}`;

interface Enrolment {
  readonly user_id: string;
  readonly secret: Uint8Array;
}

export type CodeKind = 'mfa_code' | 'recovery_code';

/** Checks codes of authenticators, and recovery codes in their place. Each code is accepted once. */
export interface MfaCodes {
  seal(userId: string, secret: string): Uint8Array<ArrayBuffer>;
  /** Spends the code in this transaction and returns its kind; undefined when it is wrong or was used before. */
  use(tx: Tx, enrolment: Enrolment, code: string, now: Date): Promise<CodeKind | undefined>;
  /** The same for codes of the authenticator only. Returns whether the code was right. */
  useTotp(tx: Tx, enrolment: Enrolment, code: string, now: Date): Promise<boolean>;
}

export function createMfaCodes(vault: Vault): MfaCodes {
  const codes: MfaCodes = {
    seal: (userId, secret) => vault.encrypt(secret, totpPurpose(userId)),
    async use(tx, enrolment, code, now) {
      if (/^\d{6}$/.test(code)) return (await codes.useTotp(tx, enrolment, code, now)) ? 'mfa_code' : undefined;
      const used = await useRecoveryCode(tx, enrolment.user_id, hashRecoveryCode(code), now);
      return used ? 'recovery_code' : undefined;
    },
    async useTotp(tx, { user_id, secret }, code, now) {
      const step = totpStep(vault.decrypt(secret, totpPurpose(user_id)), code, now);
      return step !== undefined && acceptStep(tx, user_id, step);
    },
  };
  return codes;
}
