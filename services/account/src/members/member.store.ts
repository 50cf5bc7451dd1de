import { type Principal, visibleGroupIds } from '@attribution/auth';
import { Prisma } from '../generated/prisma/client.ts';
import { type Membership, readServiceMap } from '../sessions/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';

/** A membership with the fields of its user. */
export interface MemberRow extends Membership {
  readonly email: string;
  readonly full_name: string;
  readonly email_verified_at: Date | null;
  readonly mfa_enabled_at: Date | null;
}

type Reader = Pick<Tx, '$queryRaw'>;

/**
 * One statement for any number of members and grants. Users are looked up one by one, because a join could scan the
 * whole table.
 */
async function selectMembers(tx: Reader, where: Prisma.Sql, limit = 1): Promise<MemberRow[]> {
  const rows = await tx.$queryRaw<(Omit<MemberRow, 'services'> & { readonly services: unknown })[]>`
    SELECT m.user_id, m.account_id, m.role, m.group_scope, m.services, m.billing, m.status, m.joined_at,
      u.email, u.full_name, u.email_verified_at, u.mfa_enabled_at,
      coalesce((
        SELECT json_agg(json_build_object('group_id', g.group_id, 'role', g.role) ORDER BY g.group_id)
        FROM group_grants AS g WHERE g.user_id = m.user_id AND g.account_id = m.account_id), '[]') AS grants
    FROM (SELECT * FROM memberships AS m WHERE ${where} ORDER BY m.user_id LIMIT ${limit}) AS m
    CROSS JOIN LATERAL (SELECT * FROM users WHERE id = m.user_id LIMIT 1) AS u
    ORDER BY m.user_id`;
  return rows.map((row) => ({ ...row, services: readServiceMap(row.services) }));
}

/** No restriction by service. */
export const everyService = Prisma.DbNull;

interface MemberPage {
  readonly limit: number;
  readonly after: string | undefined;
}

/** The members that the caller sees: all, or, for a narrowed caller, itself and those with whom it shares a group. */
function membersSeenBy(caller: Principal): Prisma.Sql {
  const inAccount = Prisma.sql`m.account_id = ${caller.accountId}`;
  const groups = visibleGroupIds(caller);
  if (!groups) return inAccount;
  return Prisma.sql`${inAccount} AND (m.user_id = ${caller.id}
    OR (m.group_scope = 'all' AND ${groups.length > 0})
    OR EXISTS (SELECT FROM group_grants AS g
      WHERE g.user_id = m.user_id AND g.account_id = m.account_id AND g.group_id = ANY(${groups})))`;
}

export async function findMembers(
  { prisma }: Pick<AccountDatabase, 'prisma'>,
  caller: Principal,
  { limit, after }: MemberPage,
): Promise<MemberRow[]> {
  return selectMembers(prisma, Prisma.sql`${membersSeenBy(caller)} AND m.user_id > ${after ?? ''}`, limit);
}

export async function findSeenMember(
  { prisma }: Pick<AccountDatabase, 'prisma'>,
  caller: Principal,
  userId: string,
): Promise<MemberRow | undefined> {
  return (await selectMembers(prisma, Prisma.sql`${membersSeenBy(caller)} AND m.user_id = ${userId}`))[0];
}

async function findMember(tx: Reader, accountId: string, userId: string): Promise<MemberRow | undefined> {
  return (await selectMembers(tx, Prisma.sql`m.account_id = ${accountId} AND m.user_id = ${userId}`))[0];
}

/** Serializes changes of members in an account. Without this lock two admins who change each other would deadlock. */
export async function lockMembers(tx: Reader, accountId: string): Promise<void> {
  await tx.$queryRaw`SELECT 1 FROM accounts WHERE id = ${accountId} FOR NO KEY UPDATE`;
}

/** Locks the membership, so that a change is decided on its current state. */
export async function lockMember(tx: Reader, accountId: string, userId: string): Promise<MemberRow | undefined> {
  await tx.$queryRaw`SELECT 1 FROM memberships WHERE user_id = ${userId} AND account_id = ${accountId} FOR UPDATE`;
  return findMember(tx, accountId, userId);
}

interface Grant {
  readonly group_id: string;
  readonly role: 'a' | 'm';
}

/** `groups` replaces all grants. */
export async function changeMember(
  tx: Tx,
  accountId: string,
  userId: string,
  change: Prisma.MembershipUpdateInput,
  groups: readonly Grant[],
): Promise<MemberRow> {
  const place = { user_id: userId, account_id: accountId };
  await tx.membership.update({ where: { user_id_account_id: place }, data: change, select: { user_id: true } });
  await tx.groupGrant.deleteMany({ where: place });
  if (groups.length > 0)
    await tx.groupGrant.createMany({ data: groups.map(({ group_id, role }) => ({ ...place, group_id, role })) });
  const changed = await findMember(tx, accountId, userId);
  if (!changed) throw new Error(`No member ${userId}`);
  return changed;
}

export async function deleteMember(tx: Tx, accountId: string, userId: string): Promise<void> {
  await tx.membership.deleteMany({ where: { user_id: userId, account_id: accountId } });
}
