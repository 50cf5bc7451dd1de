import { auditActor, refuseCredential, type Verifier } from '@attribution/auth';
import { type RefusalLog, userAgentOf } from '@attribution/http';
import type { Authenticate } from './pipeline.ts';

/**
 * Verifies the token of a person or a key, and notes in `refusals` whom it refuses. The services verify the token again, and
 * judge what needs data.
 */
export const bearer =
  (verifier: Verifier, refusals: RefusalLog): Authenticate =>
  (endpoint, req, asked) => {
    const { credential } = endpoint.access;
    const { authorization } = req.headers;
    if (credential === 'none' || (credential === 'optional' && authorization === undefined)) return undefined;
    const caller = verifier.authenticate(authorization);
    const refused = refuseCredential(endpoint, caller);
    if (!refused) return { caller };
    refusals.note({
      accountId: caller.accountId,
      actor: auditActor(caller),
      operation: endpoint.operation,
      subject: null,
      reason: refused.detail,
      request: { ...asked, userAgent: userAgentOf(req) },
    });
    return { caller, refused };
  };
