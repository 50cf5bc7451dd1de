import type { LocationChange, NewLocation } from '@attribution/contracts';
import type { z } from 'zod';
import { Prisma } from '../generated/prisma/client.ts';
import type { GroupScope } from '../groups/index.ts';
import { nameContains, type Tx } from '../store.ts';

type Reader = Pick<Tx, 'location'>;

const within = ({ accountId, visible }: GroupScope) => ({
  account_id: accountId,
  ...(visible && { group_id: { in: [...visible] } }),
});

interface LocationPage {
  readonly limit: number;
  readonly after: string | undefined;
  readonly groupIds: readonly string[] | undefined;
  readonly query: string | undefined;
}

export async function findLocations(db: Reader, scope: GroupScope, page: LocationPage) {
  return db.location.findMany({
    where: {
      AND: [
        within(scope),
        page.after === undefined ? {} : { id: { gt: page.after } },
        page.groupIds === undefined ? {} : { group_id: { in: [...page.groupIds] } },
        page.query === undefined ? {} : nameContains(page.query),
      ],
    },
    orderBy: { id: 'asc' },
    take: page.limit,
  });
}

export async function findLocation(db: Reader, scope: GroupScope, id: string) {
  return db.location.findFirst({ where: { AND: [within(scope), { id }] } });
}

/** Locks the location, so that a change is decided on what it is now. */
export async function lockLocation(tx: Tx, scope: GroupScope, id: string) {
  await tx.$queryRaw`SELECT id FROM locations WHERE id = ${id} AND account_id = ${scope.accountId} FOR UPDATE`;
  return findLocation(tx, scope, id);
}

/** Prisma tells "no value" of a JSON column apart from JSON's own null. */
const jsonColumn = (value: z.output<typeof NewLocation>['opening_hours']) => (value === null ? Prisma.DbNull : value);

export async function insertLocation(
  tx: Tx,
  id: string,
  accountId: string,
  given: z.output<typeof NewLocation>,
  now: Date,
) {
  const { opening_hours, ...fields } = given;
  return tx.location.create({
    data: {
      id,
      account_id: accountId,
      ...fields,
      opening_hours: jsonColumn(opening_hours),
      created_at: now,
      updated_at: now,
    },
  });
}

/** Fields left out stay as they are. */
export async function changeLocation(tx: Tx, id: string, change: z.output<typeof LocationChange>, now: Date) {
  const { opening_hours, ...fields } = change;
  const data = {
    ...fields,
    ...(opening_hours !== undefined && { opening_hours: jsonColumn(opening_hours) }),
    updated_at: now,
  };
  return tx.location.update({ where: { id }, data: data as Prisma.LocationUncheckedUpdateInput });
}

export async function deleteLocation(tx: Tx, id: string): Promise<void> {
  await tx.location.delete({ where: { id } });
}
