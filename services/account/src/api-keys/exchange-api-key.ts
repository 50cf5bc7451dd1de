import { ACCESS_TOKEN_TTL, type AccessClaims, type Signer } from '@attribution/auth';
import { exchangeApiKey, Problem } from '@attribution/contracts';
import type { RequestContext } from '@attribution/http';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import { audit } from '../audit/index.ts';
import { sameHash } from '../sessions/index.ts';
import type { AccountDatabase } from '../store.ts';
import { type ExchangeRow, findForExchange } from './api-key.store.ts';
import { refusalOf } from './api-key.ts';
import type { KeyUses } from './key-uses.ts';
import { hashSecret, isOfEnvironment, type KeyEnvironment, looksLikeKey } from './secret.ts';

/** Compared where there is no key, so that an unknown id costs what a wrong secret costs. */
const dummyHash = hashSecret('');

/**
 * Shape, look-up, secret; what is the matter with a key is told to whoever knows its secret (decision 20). A wrong secret
 * and an unknown id take the same time: of the first, the log is told later.
 */
export const exchangeApiKeyEndpoint = (parts: {
  database: AccountDatabase;
  signer: Signer;
  clock: Clock;
  uses: KeyUses;
  keyEnvironment: KeyEnvironment;
}) =>
  implement(exchangeApiKey, async ({ headers, request }) => {
    const { database, signer, clock, uses, keyEnvironment } = parts;
    const accessKeyId = headers['x-access-key-id'] ?? '';
    const secret = headers['x-access-key-secret'] ?? '';
    if (!looksLikeKey(accessKeyId, secret)) throw wrongKey();
    const key = await findForExchange(database, accessKeyId);
    const right = sameHash(hashSecret(secret), key?.secret_hash ?? dummyHash);
    if (!key || !right) {
      if (key) uses.noteWrongSecret(key, request);
      throw wrongKey();
    }

    const refusal = refusalOf(key, clock.now());
    if (refusal) throw await refuse(key, new Problem('unauthorized', refusal), request);
    if (!isOfEnvironment(accessKeyId, keyEnvironment))
      throw await refuse(key, new Problem('unauthorized', 'This API key belongs to another environment.'), request);
    if (key.account_status !== 'active') {
      const detail = `The account of this API key is ${key.account_status}.`;
      throw await refuse(key, new Problem('forbidden', detail), request);
    }
    uses.note(key, request);
    return {
      access_token: signer.sign('at+jwt', claimsOf(key), ACCESS_TOKEN_TTL, clock.now()),
      token_type: 'Bearer' as const,
      expires_in: ACCESS_TOKEN_TTL,
    };

    async function refuse(of: ExchangeRow, problem: Problem, from: RequestContext): Promise<Problem> {
      await audit(database.sql, {
        accountId: of.account_id,
        action: 'api_key.exchanged',
        outcome: 'refused',
        actor: { type: 'api_key', id: of.id },
        subject: { type: 'api_key', id: of.id },
        details: { reason: problem.detail },
        request: from,
        now: clock.now(),
      });
      return problem;
    }
  });

const wrongKey = () => new Problem('unauthorized', 'The access key id and secret are no pair of ours.');

/** The claims of a key's token (decisions 27 and 31). */
function claimsOf(key: ExchangeRow): AccessClaims {
  return {
    sub: key.id,
    account: key.account_id,
    role: key.role,
    account_type: key.account_type,
    key: { type: key.type, readonly: key.readonly },
    ...(key.group_scope === 'selected' && { group_scope: 'selected', groups: key.groups }),
    ...(key.role !== 'admin' && { bil: 'n' }),
  };
}
