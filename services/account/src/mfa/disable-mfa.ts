import { disableMfa, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { Notices } from '../notices/index.ts';
import { findMemberships, setMfaPassed } from '../sessions/index.ts';
import type { Tx } from '../store.ts';
import type { CodeAttempts } from './code-attempts.ts';
import { withFreshCode } from './fresh-code.ts';
import { deleteEnrolment } from './mfa.store.ts';

export const disableMfaEndpoint = (deps: { codeAttempts: CodeAttempts; notices: Notices }) =>
  implement(disableMfa, async ({ body, caller, request }) =>
    withFreshCode(deps, { caller, code: body.code, action: 'mfa.disabled', request }, async (tx, now) => {
      const { require_mfa } = await deleteEnrolment(tx, caller.id, now);
      if (require_mfa) throw new Problem('conflict', 'MFA is required of you.');
      await requireUnrequired(tx, caller.id);
      await setMfaPassed(tx, { user_id: caller.id }, null);
    }),
  );

/** Closed accounts are ignored: they cannot require MFA. */
async function requireUnrequired(tx: Tx, userId: string): Promise<void> {
  const requiring = (await findMemberships(tx, userId)).find(
    ({ status, account }) => status === 'active' && account.status !== 'closed' && account.require_mfa,
  );
  if (requiring) throw new Problem('conflict', `MFA is required by the account ${requiring.account.name}.`);
}
