import type { GroupChange } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
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

export async function findGroup(
  db: Sql,
  { accountId, visible }: GroupScope,
  id: string,
): Promise<GroupRow | undefined> {
  if (visible && !visible.includes(id)) return undefined;
  const [found] = await db.$queryRaw<GroupRow[]>`
    SELECT id, name, description, created_at, updated_at FROM groups WHERE id = ${id} AND account_id = ${accountId}`;
  return found;
}

/** Those of the groups that the account has. */
export async function findGroupsById(
  db: Sql,
  accountId: string,
  ids: readonly string[],
): Promise<{ id: string; name: string }[]> {
  return db.$queryRaw`SELECT id, name FROM groups WHERE account_id = ${accountId} AND id = ANY(${ids}) ORDER BY id`;
}

/**
 * Locks the group, so that what is decided of it holds until the commit; `shared` lets others do so too. False when
 * there is none in the scope.
 */
export async function lockGroup(
  tx: Sql,
  { accountId, visible }: GroupScope,
  id: string,
  mode: 'exclusive' | 'shared',
): Promise<boolean> {
  if (visible && !visible.includes(id)) return false;
  const found = await (mode === 'exclusive'
    ? tx.$queryRaw<unknown[]>`SELECT 1 FROM groups WHERE id = ${id} AND account_id = ${accountId} FOR UPDATE`
    : tx.$queryRaw<unknown[]>`SELECT 1 FROM groups WHERE id = ${id} AND account_id = ${accountId} FOR KEY SHARE`);
  return found.length === 1;
}

export interface GroupRow {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  readonly created_at: Date;
  readonly updated_at: Date;
}

export async function insertGroup(tx: Sql, accountId: string, group: GroupRow): Promise<void> {
  const { id, name, description, created_at, updated_at } = group;
  await tx.$executeRaw`
    INSERT INTO groups (id, account_id, name, description, created_at, updated_at)
    VALUES (${id}, ${accountId}, ${name}, ${description}, ${created_at}, ${updated_at})`;
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
