import { newId } from '@attribution/ids';
import { Prisma } from '../generated/prisma/client.ts';
import { readServiceMap, type ServiceMap } from '../sessions/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';

type Row = Prisma.InvitationGetPayload<object>;

interface Grant {
  readonly group_id: string;
  readonly role: 'a' | 'm';
}

export type InvitationRow = Omit<Row, 'services' | 'groups' | 'role'> & {
  readonly role: 'admin' | 'member';
  readonly groups: readonly Grant[];
  readonly services: ServiceMap | null;
};

/** Stored values were validated when they were written. An owner cannot be invited, so the role is admin or member. */
function read(row: Row): InvitationRow {
  const role = row.role === 'admin' ? 'admin' : 'member';
  return { ...row, role, groups: row.groups as unknown as Grant[], services: readServiceMap(row.services) };
}

export interface NewInvitationRow {
  readonly accountId: string;
  readonly email: string;
  readonly emailKey: string;
  readonly role: 'admin' | 'member';
  readonly group_scope: 'all' | 'selected';
  readonly groups: readonly Grant[];
  readonly services: ServiceMap | null;
  readonly billing: boolean;
  readonly tokenHash: string;
  readonly invitedBy: string;
  readonly expiresAt: Date;
  readonly now: Date;
}

export async function insertInvitation(tx: Tx, invitation: NewInvitationRow): Promise<InvitationRow> {
  const row = await tx.invitation.create({
    data: {
      id: newId('invitation'),
      account_id: invitation.accountId,
      email: invitation.email,
      email_key: invitation.emailKey,
      role: invitation.role,
      group_scope: invitation.group_scope,
      groups: invitation.groups.map(({ group_id, role }) => ({ group_id, role })),
      services: invitation.services ?? Prisma.DbNull,
      billing: invitation.role === 'member' && invitation.billing,
      token_hash: invitation.tokenHash,
      invited_by: invitation.invitedBy,
      expires_at: invitation.expiresAt,
      created_at: invitation.now,
    },
  });
  return read(row);
}

export async function findInvitations(
  { prisma }: Pick<AccountDatabase, 'prisma'>,
  accountId: string,
  { limit, before }: { limit: number; before: string | undefined },
): Promise<InvitationRow[]> {
  const rows = await prisma.invitation.findMany({
    where: { account_id: accountId, ...(before !== undefined && { id: { lt: before } }) },
    orderBy: { id: 'desc' },
    take: limit,
  });
  return rows.map(read);
}

/** Locks the invitation, so that decisions based on it hold until the commit. */
export async function lockInvitation(tx: Tx, accountId: string, id: string): Promise<InvitationRow | undefined> {
  await tx.$queryRaw`SELECT 1 FROM invitations WHERE id = ${id} AND account_id = ${accountId} FOR UPDATE`;
  const row = await tx.invitation.findFirst({ where: { id, account_id: accountId } });
  return row ? read(row) : undefined;
}

export async function findInvitationByToken(
  tx: Pick<Tx, 'invitation'>,
  tokenHash: string,
): Promise<InvitationRow | undefined> {
  const row = await tx.invitation.findUnique({ where: { token_hash: tokenHash } });
  return row ? read(row) : undefined;
}

/** Of several concurrent acceptances the first one wins; the others find the invitation accepted. */
export async function lockInvitationByToken(tx: Tx, tokenHash: string): Promise<InvitationRow | undefined> {
  await tx.$queryRaw`SELECT 1 FROM invitations WHERE token_hash = ${tokenHash} FOR UPDATE`;
  return findInvitationByToken(tx, tokenHash);
}

/** Deletes and returns an expired invitation to the same address, if there is one, to make room for a new one. */
export async function deleteExpiredInvitation(
  tx: Tx,
  accountId: string,
  emailKey: string,
  now: Date,
): Promise<Pick<Row, 'id' | 'email'> | undefined> {
  const [expired] = await tx.$queryRaw<Pick<Row, 'id' | 'email'>[]>`
    DELETE FROM invitations WHERE account_id = ${accountId} AND email_key = ${emailKey}
      AND accepted_at IS NULL AND expires_at <= ${now}
    RETURNING id, email`;
  return expired;
}

/** Replaces the link; the previous link stops working. */
export async function renewInvitation(tx: Tx, id: string, tokenHash: string, expiresAt: Date): Promise<void> {
  await tx.invitation.update({ where: { id }, data: { token_hash: tokenHash, expires_at: expiresAt } });
}

export async function acceptInvitationRow(tx: Tx, id: string, userId: string, now: Date): Promise<void> {
  await tx.invitation.update({ where: { id }, data: { accepted_at: now, accepted_by: userId } });
}

export async function deleteInvitationRow(tx: Tx, id: string): Promise<void> {
  await tx.invitation.delete({ where: { id } });
}

export async function insertMembership(tx: Tx, userId: string, invitation: InvitationRow, now: Date): Promise<void> {
  const place = { user_id: userId, account_id: invitation.account_id };
  await tx.membership.createMany({
    data: {
      ...place,
      role: invitation.role,
      group_scope: invitation.group_scope,
      services: invitation.services ?? Prisma.DbNull,
      billing: invitation.billing,
      joined_at: now,
    },
  });
  if (invitation.groups.length > 0)
    await tx.groupGrant.createMany({
      data: invitation.groups.map(({ group_id, role }) => ({ ...place, group_id, role })),
    });
}

/** Until the commit. Acceptances do not take it: they make an invitation that counts a user who counts. */
export async function lockRoom(tx: Tx, accountId: string): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${accountId}, 4))`;
}

/** How many users the account has, with those who are invited and may still accept. */
export async function countUsers(tx: Tx, accountId: string, now: Date): Promise<number> {
  const [row] = await tx.$queryRaw<{ count: number }[]>`
    SELECT ((SELECT count(*) FROM memberships WHERE account_id = ${accountId}) + (SELECT count(*) FROM invitations
      WHERE account_id = ${accountId} AND accepted_at IS NULL AND expires_at > ${now}))::int AS count`;
  return row?.count ?? 0;
}

/** Whether the address belongs to a user who is already in the account. */
export async function isMember(tx: Tx, accountId: string, emailKey: string): Promise<boolean> {
  return (await tx.membership.count({ where: { account_id: accountId, user: { email_key: emailKey } } })) > 0;
}
