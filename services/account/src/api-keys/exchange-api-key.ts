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

/** The secret is compared with this hash when the key is unknown, so that both cases take the same time. */
const dummyHash = hashSecret('');

/**
 * Checks the shape of the key, looks it up and compares the secret. The reason why a key is unusable is revealed only
 * to a caller with the right secret (decision 20). A wrong secret must take the same time as an unknown id, so it is
 * recorded in the audit log later, by a job.
 */
export const exchangeApiKeyEndpoint = (deps: {
  database: AccountDatabase;
  signer: Signer;
  clock: Clock;
  uses: KeyUses;
  keyEnvironment: KeyEnvironment;
}) =>
  implement(exchangeApiKey, async ({ headers, request }) => {
    const { database, signer, clock, uses, keyEnvironment } = deps;
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

/** The claims of the access token for a key (decisions 27 and 31). */
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
