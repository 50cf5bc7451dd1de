import type { Forgettable } from '@attribution/service';
import { Prisma } from '../generated/prisma/client.ts';
import type { AccountDatabase, Tx } from '../store.ts';
import { type AccountMembership, type Membership, type Place, ServiceMap } from './membership.ts';

/** A stored `services` value that cannot be parsed grants nothing instead of everything. */
export const readServiceMap = (stored: unknown): ServiceMap | null =>
  stored === null ? null : (ServiceMap.safeParse(stored).data ?? {});

type Row = Omit<Membership, 'services'> &
  Omit<AccountMembership['account'], 'id' | 'status'> & {
    readonly services: unknown;
    readonly account_status: AccountMembership['account']['status'];
  };

/**
 * One statement for any number of rows, so that a sign-in sends the same statements for a known user and an unknown
 * address.
 */
async function selectMemberships(tx: Pick<Tx, '$queryRaw'>, where: Prisma.Sql): Promise<AccountMembership[]> {
  const rows = await tx.$queryRaw<Row[]>`
    SELECT m.user_id, m.account_id, m.role, m.group_scope, m.services, m.billing, m.status, m.joined_at,
      coalesce((
        SELECT json_agg(json_build_object('group_id', g.group_id, 'role', g.role) ORDER BY g.group_id)
        FROM group_grants AS g WHERE g.user_id = m.user_id AND g.account_id = m.account_id), '[]') AS grants,
      a.name, a.account_type_key, a.status AS account_status, a.require_mfa, a.created_at
    FROM memberships AS m JOIN accounts AS a ON a.id = m.account_id
    WHERE ${where}`;
  return rows.map(({ name, account_type_key, account_status, require_mfa, created_at, services, ...membership }) => ({
    ...membership,
    services: readServiceMap(services),
    account: {
      id: membership.account_id,
      name,
      account_type_key,
      status: account_status,
      require_mfa,
      created_at,
    },
  }));
}

/** For `null`, an unknown address, it does the same work and finds nothing. */
export const findMemberships = (tx: Pick<Tx, '$queryRaw'>, userId: string | null): Promise<AccountMembership[]> =>
  selectMemberships(tx, Prisma.sql`m.user_id = ${userId ?? ''}`);

export async function findMembership(
  tx: Pick<Tx, '$queryRaw'>,
  userId: string,
  accountId: string,
): Promise<AccountMembership | undefined> {
  const where = Prisma.sql`m.user_id = ${userId} AND m.account_id = ${accountId}`;
  return (await selectMemberships(tx, where))[0];
}

/**
 * Locks a membership until the commit, so that whatever ends its sessions happens either before or after a session is
 * opened. Returns undefined when no session may be opened: the user or the membership is disabled or deleted, or the
 * account is closed. The order of locks everywhere is user, account, membership, session.
 */
export async function lockPlace(tx: Tx, userId: string, accountId: string): Promise<Place | undefined> {
  const [user] = await tx.$queryRaw<Place['user'][]>`
    SELECT u.id, u.email, u.full_name, u.email_verified_at, u.mfa_enabled_at, u.created_at, u.require_mfa, u.password_hash
    FROM users AS u JOIN memberships AS m ON m.user_id = u.id JOIN accounts AS a ON a.id = m.account_id
    WHERE u.id = ${userId} AND a.id = ${accountId}
      AND u.disabled_at IS NULL AND m.status = 'active' AND a.status <> 'closed'
    FOR SHARE OF u, a, m`;
  const membership = user && (await findMembership(tx, userId, accountId));
  return membership && { user, membership };
}

export async function isClosed(tx: Pick<Tx, 'account'>, accountId: string): Promise<boolean> {
  return (await tx.account.count({ where: { id: accountId, status: 'closed' } })) > 0;
}

/** The sign-in that a session began with. */
export interface SignIn {
  readonly signed_in_at: Date;
  /** Null when the session has not passed MFA. */
  readonly mfa_passed_at: Date | null;
}

/** Locks a session of the user and returns its sign-in; undefined when it has ended. */
export async function lockSession(tx: Tx, id: string | null, userId: string): Promise<SignIn | undefined> {
  const [found] = await tx.$queryRaw<SignIn[]>`
    SELECT signed_in_at, mfa_passed_at FROM sessions
    WHERE id = ${id}::uuid AND user_id = ${userId} AND ended_at IS NULL FOR SHARE`;
  return found;
}

/** Memberships of a user, the earliest joined first. */
export async function findMembershipPage(
  { prisma }: Pick<AccountDatabase, 'prisma'>,
  userId: string,
  { limit, after }: { limit: number; after: { joinedAt: Date; accountId: string } | undefined },
) {
  const later = after && {
    OR: [{ joined_at: { gt: after.joinedAt } }, { joined_at: after.joinedAt, account_id: { gt: after.accountId } }],
  };
  return prisma.membership.findMany({
    where: { user_id: userId, ...later },
    orderBy: [{ joined_at: 'asc' }, { account_id: 'asc' }],
    take: limit,
    include: { account: true },
  });
}

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  readonly accountId: string;
  readonly ip: string;
  readonly userAgent: string | null;
  readonly now: Date;
  readonly signIn: SignIn;
}

export async function insertSession(tx: Tx, session: NewSession): Promise<void> {
  await tx.session.create({
    data: {
      id: session.id,
      user_id: session.userId,
      account_id: session.accountId,
      ip: session.ip,
      user_agent: session.userAgent,
      created_at: session.now,
      last_used_at: session.now,
      ...session.signIn,
    },
  });
}

export async function insertRefreshToken(
  tx: Tx,
  token: { id: string; hash: string; sessionId: string; now: Date; expiresAt: Date },
): Promise<void> {
  await tx.refreshToken.create({
    data: {
      id: token.id,
      hash: token.hash,
      session_id: token.sessionId,
      issued_at: token.now,
      expires_at: token.expiresAt,
    },
  });
}

interface PresentedToken extends SignIn {
  readonly hash: string;
  readonly expires_at: Date;
  readonly session_id: string;
  readonly user_id: string;
  readonly account_id: string;
  readonly user_disabled: boolean;
  readonly user_requires_mfa: boolean;
}

/** A refresh token with the state of its session. */
export async function findRefreshToken(tx: Tx, id: string): Promise<PresentedToken | undefined> {
  const [found] = await tx.$queryRaw<PresentedToken[]>`
    SELECT t.hash, t.expires_at, t.session_id, s.signed_in_at, s.mfa_passed_at, s.user_id, s.account_id,
      u.disabled_at IS NOT NULL AS user_disabled, u.require_mfa AS user_requires_mfa
    FROM refresh_tokens AS t JOIN sessions AS s ON s.id = t.session_id JOIN users AS u ON u.id = s.user_id
    WHERE t.id = ${id}`;
  return found;
}

/** Marks the token as used. Returns false when it was used before; of parallel uses one succeeds. */
export async function useRefreshToken(tx: Tx, id: string, now: Date): Promise<boolean> {
  const { count } = await tx.refreshToken.updateMany({ where: { id, used_at: null }, data: { used_at: now } });
  return count === 1;
}

/** The time at which the token was used. */
export async function findTokenUse(tx: Tx, id: string): Promise<Date | null> {
  const found = await tx.refreshToken.findUnique({ where: { id }, select: { used_at: true } });
  return found?.used_at ?? null;
}

/**
 * Updates the last use of the session, and keeps others from ending it until the commit. Returns false when it has
 * ended.
 */
export async function touchSession(tx: Tx, id: string, now: Date): Promise<boolean> {
  const { count } = await tx.session.updateMany({ where: { id, ended_at: null }, data: { last_used_at: now } });
  return count === 1;
}

/** Records whether sessions have passed MFA. */
export async function setMfaPassed(
  tx: Pick<Tx, 'session'>,
  which: Pick<Prisma.SessionWhereInput, 'id' | 'user_id'>,
  passedAt: Date | null,
): Promise<void> {
  await tx.session.updateMany({ where: { ...which, ended_at: null }, data: { mfa_passed_at: passedAt } });
}

/** Ends the sessions that are still open, which invalidates their refresh tokens. */
export async function endSessions(
  tx: Pick<Tx, 'session'>,
  which: Pick<Prisma.SessionWhereInput, 'id' | 'user_id' | 'account_id' | 'NOT'>,
  reason: string,
  now: Date,
): Promise<number> {
  const where = { ...which, ended_at: null };
  return (await tx.session.updateMany({ where, data: { ended_at: now, end_reason: reason } })).count;
}

/** Sessions of a user that have not ended and can still be refreshed, newest first. */
export async function findOpenSessions(
  { prisma }: Pick<AccountDatabase, 'prisma'>,
  userId: string,
  page: { limit: number; before: string | undefined; usedSince: Date; signedInSince: Date },
) {
  return prisma.session.findMany({
    where: {
      user_id: userId,
      ended_at: null,
      last_used_at: { gt: page.usedSince },
      signed_in_at: { gt: page.signedInSince },
      ...(page.before !== undefined && { id: { lt: page.before } }),
    },
    orderBy: { id: 'desc' },
    take: page.limit,
  });
}

export async function findSession(tx: Tx, id: string, userId: string) {
  return tx.session.findFirst({ where: { id, user_id: userId } });
}

/** Sessions that no token can refresh any more. */
export const unusedSessions = { table: 'sessions', condition: 'last_used_at < $1' } satisfies Forgettable;
