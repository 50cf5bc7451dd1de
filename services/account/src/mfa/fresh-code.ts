import type { Principal } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import type { RequestContext } from '@attribution/http';
import { actorOf, audit } from '../audit/index.ts';
import type { Notices } from '../notices/index.ts';
import type { Tx } from '../store.ts';
import type { CodeAttempts, Refusal } from './code-attempts.ts';

interface FreshCode {
  readonly caller: Principal;
  readonly code: string;
  /** The action that needs the code, for the audit log. */
  readonly action: 'mfa.disabled' | 'mfa.recovery_codes_renewed';
  readonly request: RequestContext;
}

/** Runs an action for which a signed-in person must give a fresh code, and records it in the audit log. */
export async function withFreshCode<T>(
  { codeAttempts, notices }: { codeAttempts: CodeAttempts; notices: Notices },
  { caller, code, action, request }: FreshCode,
  work: (tx: Tx, now: Date) => Promise<T>,
): Promise<T> {
  const { id: userId, accountId } = caller;
  const record = { accountId, action, actor: actorOf(caller), subject: { type: 'user', id: userId }, request };
  return codeAttempts.make({ userId, code, refuse, record }, async (tx, via, now) => {
    const result = await work(tx, now);
    await notices.tell(tx, userId, { kind: noticeOf[action] }, request);
    await audit(tx, { ...record, details: { via }, now });
    return result;
  });
}

const noticeOf = { 'mfa.disabled': 'mfa_disabled', 'mfa.recovery_codes_renewed': 'recovery_codes_renewed' } as const;

const refuse = (why: Refusal): Problem => (why === 'off' ? new Problem('conflict', 'MFA is not on.') : wrongCode());

export const wrongCode = () => new Problem('validation-error', 'body.code: is wrong, or was used before.');
