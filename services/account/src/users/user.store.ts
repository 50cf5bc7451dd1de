import type { User } from '../generated/prisma/client.ts';
import type { AccountDatabase, Tx } from '../store.ts';

export async function findUserByEmail(database: { prisma: Pick<Tx, 'user'> }, emailKey: string) {
  return database.prisma.user.findUnique({ where: { email_key: emailKey } });
}

/** Locks the user with this address, so that what is read holds until the commit. */
export async function lockUserByEmail(tx: Tx, emailKey: string): Promise<User | undefined> {
  const [user] = await tx.$queryRaw<User[]>`SELECT * FROM users WHERE email_key = ${emailKey} FOR SHARE`;
  return user;
}

export async function findUser(tx: Pick<Tx, 'user'>, id: string) {
  return tx.user.findUnique({ where: { id } });
}

export interface NewUser {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
  readonly fullName: string;
  readonly passwordHash: string;
  /** Whether the address is already proven. */
  readonly verified?: boolean;
  readonly now: Date;
}

export async function insertUser(tx: Tx, user: NewUser) {
  return tx.user.create({
    data: {
      id: user.id,
      email: user.email,
      email_key: user.emailKey,
      full_name: user.fullName,
      password_hash: user.passwordHash,
      email_verified_at: user.verified ? user.now : null,
      created_at: user.now,
      updated_at: user.now,
    },
  });
}

/** Locks the user. Returns false when the address was verified before. */
export async function markEmailVerified(tx: Tx, id: string, now: Date): Promise<boolean> {
  const { count } = await tx.user.updateMany({
    where: { id, email_verified_at: null },
    data: { email_verified_at: now, updated_at: now },
  });
  return count === 1;
}

export async function renameUser(tx: Tx, id: string, fullName: string, now: Date) {
  return tx.user.update({ where: { id }, data: { full_name: fullName, updated_at: now } });
}

export async function setPassword(tx: Tx, id: string, passwordHash: string, now: Date): Promise<void> {
  await tx.user.update({ where: { id }, data: { password_hash: passwordHash, updated_at: now } });
}

/** Replaces the password that was checked. Returns false when the user has a different one now, or is disabled. */
export async function replacePassword(
  tx: Tx,
  checked: { id: string; password_hash: string },
  passwordHash: string,
  now: Date,
): Promise<boolean> {
  const { count } = await tx.user.updateMany({
    where: { id: checked.id, password_hash: checked.password_hash, disabled_at: null },
    data: { password_hash: passwordHash, updated_at: now },
  });
  return count === 1;
}

/**
 * The number of users who have not verified their address since `time`, and of accounts of which such a user is the
 * owner and only member.
 */
export async function countStaleUsers(
  { sql }: AccountDatabase,
  time: Date,
): Promise<{ users: number; accounts: number }> {
  const [counts] = await sql.$queryRaw<{ users: number; accounts: number }[]>`
    SELECT count(*)::int AS users, coalesce(sum(alone.count), 0)::int AS accounts
    FROM users u CROSS JOIN LATERAL (
      SELECT count(*) FROM memberships m WHERE m.user_id = u.id AND m.role = 'owner'
        AND NOT EXISTS (SELECT FROM memberships o WHERE o.account_id = m.account_id AND o.user_id <> u.id)) AS alone
    WHERE u.email_verified_at IS NULL AND u.created_at < ${time}`;
  return counts ?? { users: 0, accounts: 0 };
}

/**
 * Locks some users who have not verified their address since `time`, with the accounts of which they are the owner and
 * only member.
 */
export async function lockStaleUsers(tx: Tx, time: Date, limit: number) {
  return tx.$queryRaw<{ user_id: string; account_ids: string[] }[]>`
    SELECT u.id AS user_id, ARRAY(
      SELECT m.account_id FROM memberships m WHERE m.user_id = u.id AND m.role = 'owner'
        AND NOT EXISTS (SELECT FROM memberships o WHERE o.account_id = m.account_id AND o.user_id <> u.id)
    ) AS account_ids
    FROM users u WHERE u.email_verified_at IS NULL AND u.created_at < ${time}
    ORDER BY u.created_at LIMIT ${limit} FOR UPDATE SKIP LOCKED`;
}

export async function deleteUser(tx: Tx, id: string): Promise<void> {
  await tx.user.delete({ where: { id } });
}
