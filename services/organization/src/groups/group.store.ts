import type { GroupChange } from '@attribution/contracts';
import type { z } from 'zod';
import type { Prisma } from '../generated/prisma/client.ts';
import { nameContains, type Tx } from '../store.ts';

/** Which groups a query may return. */
export interface GroupScope {
  readonly accountId: string;
  /** null: all of the account. */
  readonly visible: readonly string[] | null;
}

const within = ({ accountId, visible }: GroupScope) => ({
  account_id: accountId,
  ...(visible && { id: { in: [...visible] } }),
});

type Reader = Pick<Tx, 'group'>;

export async function findGroups(
  db: Reader,
  scope: GroupScope,
  page: { limit: number; after: string | undefined; query: string | undefined },
) {
  return db.group.findMany({
    where: {
      AND: [
        within(scope),
        page.after === undefined ? {} : { id: { gt: page.after } },
        page.query === undefined ? {} : nameContains(page.query),
      ],
    },
    orderBy: { id: 'asc' },
    take: page.limit,
  });
}

export async function findGroup(db: Reader, scope: GroupScope, id: string) {
  return db.group.findFirst({ where: { AND: [within(scope), { id }] } });
}

/** Locks the group, so that what is decided of it holds until the commit; `shared` lets others do so too. */
export async function lockGroup(tx: Tx, scope: GroupScope, id: string, mode: 'exclusive' | 'shared') {
  if (mode === 'exclusive')
    await tx.$queryRaw`SELECT id FROM groups WHERE id = ${id} AND account_id = ${scope.accountId} FOR UPDATE`;
  else await tx.$queryRaw`SELECT id FROM groups WHERE id = ${id} AND account_id = ${scope.accountId} FOR KEY SHARE`;
  return findGroup(tx, scope, id);
}

export interface NewGroup {
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
  readonly description: string | null;
  readonly now: Date;
}

export async function insertGroup(tx: Tx, group: NewGroup) {
  const { id, accountId, name, description, now } = group;
  return tx.group.create({ data: { id, account_id: accountId, name, description, created_at: now, updated_at: now } });
}

/** Fields left out stay as they are. */
export async function changeGroup(tx: Tx, id: string, change: z.output<typeof GroupChange>, now: Date) {
  return tx.group.update({ where: { id }, data: { ...change, updated_at: now } as Prisma.GroupUpdateInput });
}

/** Throws a foreign-key violation while the group has locations. */
export async function deleteGroup(tx: Tx, id: string): Promise<void> {
  await tx.group.delete({ where: { id } });
}

export async function deleteGroupsOfAccount(tx: Tx, accountId: string): Promise<string[]> {
  const groups = await tx.group.findMany({ where: { account_id: accountId }, select: { id: true } });
  await tx.group.deleteMany({ where: { account_id: accountId } });
  return groups.map((group) => group.id);
}
