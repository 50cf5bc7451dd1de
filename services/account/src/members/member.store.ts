import { Prisma } from '../generated/prisma/client.ts';
import { readServiceMap, type ServiceMap } from '../sessions/index.ts';
import type { AccountDatabase, Tx } from '../store.ts';

const whole = {
  user: true,
  grants: { select: { group_id: true, role: true }, orderBy: { group_id: 'asc' } },
} as const;

type Row = Prisma.MembershipGetPayload<{ include: typeof whole }>;
export type MemberRow = Omit<Row, 'services'> & { readonly services: ServiceMap | null };

const read = (row: Row): MemberRow => ({ ...row, services: readServiceMap(row.services) });

/** No per-service restriction. */
export const everyService = Prisma.DbNull;

interface MemberPage {
  readonly limit: number;
  readonly after: string | undefined;
}

export async function findMembers(
  { prisma }: Pick<AccountDatabase, 'prisma'>,
  accountId: string,
  { limit, after }: MemberPage,
): Promise<MemberRow[]> {
  const rows = await prisma.membership.findMany({
    where: { account_id: accountId, ...(after !== undefined && { user_id: { gt: after } }) },
    orderBy: { user_id: 'asc' },
    take: limit,
    include: whole,
  });
  return rows.map(read);
}

export async function findMember(tx: Pick<Tx, 'membership'>, accountId: string, userId: string) {
  const row = await tx.membership.findUnique({
    where: { user_id_account_id: { user_id: userId, account_id: accountId } },
    include: whole,
  });
  return row ? read(row) : undefined;
}

/** Locks the membership, so that a change is decided on what it is now. */
export async function lockMember(tx: Tx, accountId: string, userId: string) {
  await tx.$queryRaw`SELECT 1 FROM memberships WHERE user_id = ${userId} AND account_id = ${accountId} FOR UPDATE`;
  return findMember(tx, accountId, userId);
}

interface Grant {
  readonly group_id: string;
  readonly role: 'a' | 'm';
}

/** `groups` takes the place of all grants before. */
export async function changeMember(
  tx: Tx,
  accountId: string,
  userId: string,
  change: Prisma.MembershipUpdateInput,
  groups: readonly Grant[],
): Promise<MemberRow> {
  const row = await tx.membership.update({
    where: { user_id_account_id: { user_id: userId, account_id: accountId } },
    data: {
      ...change,
      grants: { deleteMany: {}, create: groups.map(({ group_id, role }) => ({ group_id, role })) },
    },
    include: whole,
  });
  return read(row);
}

export async function deleteMember(tx: Tx, accountId: string, userId: string): Promise<void> {
  await tx.membership.delete({ where: { user_id_account_id: { user_id: userId, account_id: accountId } } });
}
