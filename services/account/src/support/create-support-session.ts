import { ACCESS_TOKEN_TTL, type AccessClaims, type Signer } from '@attribution/auth';
import { createSupportSession, Problem } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { findAccountOrNone } from '../accounts/index.ts';
import { audit } from '../audit/index.ts';
import type { AccountDatabase } from '../store.ts';

/** The session ends when its access token expires. Each new session adds another record to the account's audit log. */
export const createSupportSessionEndpoint = (deps: { database: AccountDatabase; signer: Signer; clock: Clock }) =>
  implement(createSupportSession, async ({ body, caller, request }) => {
    const { database, signer, clock } = deps;
    const { account_id: accountId, operator, reason } = body;
    const now = clock.now();
    const account = await database.transaction(async (tx) => {
      const found = await findAccountOrNone(tx, accountId);
      if (!found) throw new Problem('unprocessable', `body.account_id: there is no ${accountId}.`);
      await audit(tx, {
        accountId,
        action: 'support_session.opened',
        actor: { type: 'support', id: operator },
        subject: { type: 'account', id: accountId },
        details: { reason, by: caller },
        request,
        now,
      });
      return found;
    });
    const claims: AccessClaims = {
      sub: operator,
      account: accountId,
      role: 'admin',
      account_type: account.account_type_key,
      support: { reason },
    };
    return {
      access_token: signer.sign('at+jwt', claims, ACCESS_TOKEN_TTL, now),
      token_type: 'Bearer' as const,
      expires_in: ACCESS_TOKEN_TTL,
    };
  });
