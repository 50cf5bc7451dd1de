import { Problem } from '@attribution/contracts';
import { refusePassword } from '../passwords/index.ts';

/** Throws `validation-error` when a new password breaks a rule; `where` is the name of the field. */
export type CheckNewPassword = (password: string, where: string) => void;

export function newPasswordCheck(minLength: number): CheckNewPassword {
  return (password, where) => {
    const refusal = refusePassword(password, minLength);
    if (refusal) throw new Problem('validation-error', `${where}: ${refusal}.`);
  };
}
