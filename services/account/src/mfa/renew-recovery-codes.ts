import { renewRecoveryCodes } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { Notices } from '../notices/index.ts';
import type { CodeAttempts } from './code-attempts.ts';
import { withFreshCode } from './fresh-code.ts';
import { putRecoveryCodes } from './mfa.store.ts';
import { hashRecoveryCode, newRecoveryCodes } from './recovery-codes.ts';

export const renewRecoveryCodesEndpoint = (deps: { codeAttempts: CodeAttempts; notices: Notices }) =>
  implement(renewRecoveryCodes, async ({ body, caller, request }) => {
    const requested = { caller, code: body.code, action: 'mfa.recovery_codes_renewed', request } as const;
    return withFreshCode(deps, requested, async (tx) => {
      const recoveryCodes = newRecoveryCodes();
      await putRecoveryCodes(tx, caller.id, recoveryCodes.map(hashRecoveryCode));
      return { recovery_codes: recoveryCodes };
    });
  });
