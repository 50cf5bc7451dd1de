import type { Prisma } from '../generated/prisma/client.ts';
import type { AccountDatabase, Tx } from '../store.ts';
import { type Membership, ServiceMap } from './membership.ts';

const withGrants = { grants: { select: { group_id: true, role: true } } } as const;

/** A stored `services` that cannot be read grants nothing, rather than everything. */
export const readServiceMap = (stored: unknown): ServiceMap | null =>
  stored === null ? null : (ServiceMap.safeParse(stored).data ?? {});

const readMembership = <M extends { services: unknown }>(row: M): M & { services: ServiceMap | null } => ({
  ...row,
  services: readServiceMap(row.services),
});

export async function findMemberships(database: Pick<AccountDatabase, 'prisma'>, userId: string) {
  const rows = await database.prisma.membership.findMany({
    where: { user_id: userId },
    include: { ...withGrants, account: true },
  });
  return rows.map(readMembership);
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

export async function findMembership(
  tx: Pick<Tx, 'membership'>,
  userId: string,
  accountId: string,
): Promise<Membership | undefined> {
  const row = await tx.membership.findUnique({
    where: { user_id_account_id: { user_id: userId, account_id: accountId } },
    include: withGrants,
  });
  return row ? readMembership(row) : undefined;
}

/**
 * Locks the user until the commit, so that a reset of the password comes before or after it as a whole. False when
 * the password that was judged is no longer the user's, or the user is disabled by now.
 */
export async function lockJudgedUser(tx: Tx, user: { id: string; password_hash: string }): Promise<boolean> {
  const found = await tx.$queryRaw<unknown[]>`
    SELECT 1 FROM users WHERE id = ${user.id} AND password_hash = ${user.password_hash} AND disabled_at IS NULL FOR SHARE`;
  return found.length === 1;
}

export interface NewSession {
  readonly id: string;
  readonly userId: string;
  readonly accountId: string;
  readonly ip: string;
  readonly userAgent: string | null;
  readonly now: Date;
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

/** A refresh token with its session, user, account and membership; null where the membership is gone. */
export async function findRefreshToken(tx: Tx, id: string) {
  return tx.refreshToken.findUnique({
    where: { id },
    include: { session: { include: { user: true, account: true } } },
  });
}

/** Uses the token up; false when it was used before. Of parallel uses one succeeds. */
export async function useRefreshToken(tx: Tx, id: string, now: Date): Promise<boolean> {
  const { count } = await tx.refreshToken.updateMany({ where: { id, used_at: null }, data: { used_at: now } });
  return count === 1;
}

export async function touchSession(tx: Tx, id: string, now: Date): Promise<void> {
  await tx.session.update({ where: { id }, data: { last_used_at: now } });
}

/** Ends sessions that are still open; their refresh tokens are dead with them. */
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
  page: { limit: number; before: string | undefined; usedSince: Date },
) {
  return prisma.session.findMany({
    where: {
      user_id: userId,
      ended_at: null,
      last_used_at: { gt: page.usedSince },
      ...(page.before !== undefined && { id: { lt: page.before } }),
    },
    orderBy: { id: 'desc' },
    take: page.limit,
  });
}

export async function findSession(tx: Tx, id: string, userId: string) {
  return tx.session.findFirst({ where: { id, user_id: userId } });
}

/** Deletes what no token can come back to. */
export async function deleteSessionsUnusedSince(database: AccountDatabase, time: Date): Promise<void> {
  await database.prisma.session.deleteMany({ where: { last_used_at: { lt: time } } });
}
