import { Problem } from '@attribution/contracts';
import { refusePassword } from '../passwords/index.ts';

/**
 * Throws `validation-error` when a new password breaks a rule; `where` is the name of the field, `email` the address of
 * the user, as soon as it is known.
 */
export type CheckNewPassword = (password: string, where: string, email?: string) => void;

export function newPasswordCheck(minLength: number): CheckNewPassword {
  return (password, where, email) => {
    const refusal = refusePassword(password, minLength, email);
    if (refusal) throw new Problem('validation-error', `${where}: ${refusal}.`);
  };
}
