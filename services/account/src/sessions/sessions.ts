import { ACCESS_TOKEN_TTL, type Signer } from '@attribution/auth';
import { type MfaChallenge, type MfaSetupRequired, Problem, type Session } from '@attribution/contracts';
import type { RequestContext } from '@attribution/http';
import { newUuid } from '@attribution/ids';
import type { Clock } from '@attribution/runtime';
import type { z } from 'zod';
import { audit, person } from '../audit/index.ts';
import { emailKeyOf } from '../codes/index.ts';
import type { Guesses } from '../guesses/index.ts';
import type { Notices } from '../notices/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';
import { signEntrance } from './entrance.ts';
import { chooseMembership, claimsOf, type Membership, type Place } from './membership.ts';
import { sessionEnded } from './own-session.ts';
import { newRefreshToken, refreshTokenExpiry } from './refresh-token.ts';
import type { Refusals } from './refusals.ts';
import { findMemberships, insertRefreshToken, insertSession, lockPlace, type SignIn } from './session.store.ts';
import { viewAccount, viewUser, wireSessionId } from './session.view.ts';

/** Lifetime of the MFA challenge and setup tokens, in seconds. */
export const mfaTokenTtl = { challenge: 5 * 60, setup: 15 * 60 };

/** The ways of signing in that include MFA. */
const provesMfa: ReadonlySet<string> = new Set(['mfa_code', 'recovery_code', 'mfa_setup']);

/** How a session was opened. */
interface Opening {
  readonly via: 'password' | 'email_code' | 'mfa_code' | 'recovery_code' | 'mfa_setup' | 'switch' | 'invitation';
  readonly request: RequestContext;
  /** That of the session which the new one continues. Without it, the new session begins with a sign-in of its own. */
  readonly signIn?: SignIn;
}

type Opened = z.output<typeof Session>;
type SetupRequired = z.output<typeof MfaSetupRequired>;

export interface Sessions {
  /**
   * The result for a caller with the right password: a session, or the MFA step that comes first (login rules 1 to 4).
   * Throws `forbidden` when no account is open. Returns undefined when the user changed after the password was
   * checked.
   */
  enter(
    checked: { readonly id: string; readonly password_hash: string },
    request: RequestContext,
  ): Promise<Opened | z.output<typeof MfaChallenge> | SetupRequired | undefined>;
  /** The account that a user enters. Throws `forbidden` when none is open. */
  chooseAccount(userId: string, request: RequestContext): Promise<string>;
  /** Opens a session in a locked place, or returns the MFA setup step when MFA is required and missing. */
  admit(tx: Tx, place: Place, opening: Opening): Promise<Opened | SetupRequired>;
  /** Opens a session in the caller's transaction. */
  open(tx: Tx, place: Place, opening: Opening): Promise<Opened>;
  /** Issues a new token pair for a session. */
  issueTokens(tx: Tx, membership: Membership, accountType: string, session: SessionStart): Promise<TokenPair>;
}

interface SessionStart {
  readonly id: string;
  readonly signedInAt: Date;
}

interface TokenPair {
  readonly access_token: string;
  readonly refresh_token: string;
}

export function createSessions(deps: {
  database: AccountDatabase;
  signer: Signer;
  clock: Clock;
  refusals: Refusals;
  guesses: Guesses;
  notices: Notices;
}): Sessions {
  const { database, signer, clock, refusals, guesses, notices } = deps;

  /** Issues the token for an MFA step. The step is recorded in the audit log, because the password was right. */
  async function entranceTo(
    tx: Tx,
    { user, membership }: Place,
    kind: 'challenge' | 'setup',
    { request, signIn }: Pick<Opening, 'request' | 'signIn'>,
  ) {
    const { account_id: accountId } = membership;
    const now = clock.now();
    await audit(tx, {
      accountId,
      action: kind === 'challenge' ? 'mfa.challenged' : 'mfa.setup_required',
      actor: person(user.id),
      subject: { type: 'user', id: user.id },
      request,
      now,
    });
    const ttl = mfaTokenTtl[kind];
    return {
      token: signEntrance(signer, `mfa-${kind}+jwt`, { user, accountId, signedInAt: signIn?.signed_in_at, ttl, now }),
      expires_in: ttl,
    };
  }

  const sessions: Sessions = {
    async chooseAccount(userId, request) {
      const chosen = chooseMembership(await findMemberships(database.prisma, userId));
      if (chosen) return chosen.account_id;
      await refusals.record({ action: 'session.opened', reason: 'no_open_account', userId, proven: true, request });
      throw new Problem('forbidden', 'The account is closed, and there is no other open account of yours.');
    },

    async enter(checked, request) {
      const accountId = await sessions.chooseAccount(checked.id, request);
      return database.transaction(async (tx) => {
        const place = await lockPlace(tx, checked.id, accountId);
        // Hashing a password takes long enough for a concurrent request to reset it, to set up MFA, or to remove the
        // membership.
        if (place?.user.password_hash !== checked.password_hash) return undefined;
        if (!place.user.mfa_enabled_at) return sessions.admit(tx, place, { via: 'password', request });
        const { token, expires_in } = await entranceTo(tx, place, 'challenge', { request });
        return { mfa_challenge: true, challenge_token: token, expires_in };
      });
    },

    async admit(tx, place, opening) {
      const { user, membership } = place;
      const required = user.require_mfa || membership.account.require_mfa;
      if (required && user.mfa_enabled_at && opening.signIn?.mfa_passed_at === null) throw sessionEnded();
      if (!required || user.mfa_enabled_at) return sessions.open(tx, place, opening);
      const { token, expires_in } = await entranceTo(tx, place, 'setup', opening);
      return { mfa_setup_required: true, setup_token: token, expires_in };
    },

    async open(tx, { user, membership }, { via, request, ...opening }) {
      const id = newUuid();
      const now = clock.now();
      const { account } = membership;
      const { ip, userAgent } = request;
      const signIn = opening.signIn ?? { signed_in_at: now, mfa_passed_at: provesMfa.has(via) ? now : null };
      await audit(tx, {
        accountId: account.id,
        action: 'session.opened',
        actor: person(user.id),
        subject: { type: 'user', id: user.id },
        details: { via, session_id: wireSessionId(id) },
        request,
        now,
      });
      if (!opening.signIn) await guesses.noteSignIn(tx, emailKeyOf(user.email), request);
      await insertSession(tx, { id, userId: user.id, accountId: account.id, ip, userAgent, now, signIn });
      if (!opening.signIn) await notices.noteSignIn(tx, user.id, request);
      const tokens = await sessions.issueTokens(tx, membership, account.account_type_key, {
        id,
        signedInAt: signIn.signed_in_at,
      });
      return { ...tokens, user: viewUser(user), account: viewAccount(account) };
    },

    async issueTokens(tx, membership, accountType, { id: sessionId, signedInAt }) {
      const now = clock.now();
      const refresh = newRefreshToken();
      const expiresAt = refreshTokenExpiry(now, signedInAt);
      await insertRefreshToken(tx, { id: refresh.id, hash: refresh.hash, sessionId, now, expiresAt });
      const claims = { ...claimsOf(membership, accountType), sid: sessionId };
      return { access_token: signer.sign('at+jwt', claims, ACCESS_TOKEN_TTL, now), refresh_token: refresh.token };
    },
  };
  return sessions;
}
