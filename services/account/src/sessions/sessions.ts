import { ACCESS_TOKEN_TTL, type Signer } from '@attribution/auth';
import { type MfaChallenge, type MfaSetupRequired, newUuid, Problem, type Session } from '@attribution/contracts';
import type { Clock, RequestContext } from '@attribution/service';
import type { z } from 'zod';
import { audit, person } from '../audit/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';
import { signEntrance } from './entrance.ts';
import { chooseMembership, claimsOf, type Membership } from './membership.ts';
import { newRefreshToken, refreshTokenDays } from './refresh-token.ts';
import { findMemberships, insertRefreshToken, insertSession, lockJudgedUser } from './session.store.ts';
import { viewAccount, viewUser } from './session.view.ts';

type UserRow = Parameters<typeof viewUser>[0] & { require_mfa: boolean; password_hash: string };
type AccountRow = Parameters<typeof viewAccount>[0];

/** Seconds that the tokens of the MFA envelopes live. */
const mfaTokenTtl = { challenge: 5 * 60, setup: 15 * 60 };
const day = 24 * 60 * 60 * 1000;

export interface Sessions {
  /** The account that a user enters. Throws `forbidden` when none is open. */
  chooseAccount(userId: string): Promise<EnteredAccount>;
  /**
   * What a person gets whose password was right: a session, or what MFA asks for first (login rules 1 to 3). Throws
   * `unauthorized` when the password was changed in the meantime.
   */
  enter(user: UserRow, entered: EnteredAccount, request: RequestContext): Promise<EnterOutcome>;
  /** Opens a session in the caller's transaction. */
  open(tx: Tx, user: UserRow, entered: EnteredAccount, request: RequestContext): Promise<z.output<typeof Session>>;
  /** New tokens of a session. */
  issueTokens(tx: Tx, membership: Membership, accountType: string, sessionId: string): Promise<TokenPair>;
  /** The envelope that stands before a session where MFA is required and not set up. */
  setupEnvelope(user: { id: string; password_hash: string }, accountId: string): z.output<typeof MfaSetupRequired>;
}

export type EnterOutcome = z.output<typeof Session> | z.output<typeof MfaChallenge> | z.output<typeof MfaSetupRequired>;

/** The one refusal of a login, whatever was wrong. */
export const wrongCredentials = () => new Problem('unauthorized', 'The address or the password is wrong.');

interface EnteredAccount {
  readonly membership: Membership;
  readonly account: AccountRow;
}

interface TokenPair {
  readonly access_token: string;
  readonly refresh_token: string;
}

export function createSessions({
  database,
  signer,
  clock,
}: {
  database: AccountDatabase;
  signer: Signer;
  clock: Clock;
}): Sessions {
  const sessions: Sessions = {
    async chooseAccount(userId) {
      const membership = chooseMembership(await findMemberships(database, userId));
      if (!membership)
        throw new Problem('forbidden', 'The account is closed, and there is no other open account of yours.');
      return { membership, account: membership.account };
    },

    async enter(user, entered, request) {
      const { account_id: accountId } = entered.membership;
      if (user.mfa_enabled_at) {
        const ttl = mfaTokenTtl.challenge;
        const token = signEntrance(signer, 'mfa-challenge+jwt', { user, accountId, ttl, now: clock.now() });
        return { mfa_challenge: true, challenge_token: token, expires_in: mfaTokenTtl.challenge };
      }
      if (user.require_mfa || entered.account.require_mfa) return sessions.setupEnvelope(user, accountId);
      return database.transaction(async (tx) => {
        if (!(await lockJudgedUser(tx, user))) throw wrongCredentials();
        return sessions.open(tx, user, entered, request);
      });
    },

    async open(tx, user, { membership, account }, request) {
      const id = newUuid();
      const { ip, userAgent } = request;
      await audit(tx, {
        accountId: account.id,
        action: 'session.opened',
        actor: person(user.id),
        subject: { type: 'user', id: user.id },
        request,
        now: clock.now(),
      });
      await insertSession(tx, { id, userId: user.id, accountId: account.id, ip, userAgent, now: clock.now() });
      const tokens = await sessions.issueTokens(tx, membership, account.account_type_key, id);
      return { ...tokens, user: viewUser(user), account: viewAccount(account) };
    },

    async issueTokens(tx, membership, accountType, sessionId) {
      const now = clock.now();
      const refresh = newRefreshToken();
      const expiresAt = new Date(now.getTime() + refreshTokenDays * day);
      await insertRefreshToken(tx, { id: refresh.id, hash: refresh.hash, sessionId, now, expiresAt });
      const claims = { ...claimsOf(membership, accountType), sid: sessionId };
      return { access_token: signer.sign('at+jwt', claims, ACCESS_TOKEN_TTL, now), refresh_token: refresh.token };
    },

    setupEnvelope(user, accountId) {
      const ttl = mfaTokenTtl.setup;
      const token = signEntrance(signer, 'mfa-setup+jwt', { user, accountId, ttl, now: clock.now() });
      return { mfa_setup_required: true, setup_token: token, expires_in: ttl };
    },
  };
  return sessions;
}
