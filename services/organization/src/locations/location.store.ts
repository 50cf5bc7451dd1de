import type { LocationChange, NewLocation } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
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

export interface LocationRow extends z.output<typeof NewLocation> {
  readonly id: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

const sees = ({ visible }: GroupScope, groupId: string) => visible === null || visible.includes(groupId);

export async function findLocation(db: Sql, scope: GroupScope, id: string): Promise<LocationRow | undefined> {
  const [found] = await db.$queryRaw<LocationRow[]>`
    SELECT id, group_id, name, timezone, address, latitude, longitude, venue_type, opening_hours, status, created_at,
      updated_at
    FROM locations WHERE id = ${id} AND account_id = ${scope.accountId}`;
  return found && sees(scope, found.group_id) ? found : undefined;
}

/** Locks the location, so that a change is decided on what it is now; gives its group. */
export async function lockLocation(
  tx: Sql,
  scope: GroupScope,
  id: string,
): Promise<{ readonly group_id: string } | undefined> {
  const [found] = await tx.$queryRaw<{ group_id: string }[]>`
    SELECT group_id FROM locations WHERE id = ${id} AND account_id = ${scope.accountId} FOR UPDATE`;
  return found && sees(scope, found.group_id) ? found : undefined;
}

/** Prisma tells "no value" of a JSON column apart from JSON's own null. */
const jsonColumn = (value: z.output<typeof NewLocation>['opening_hours']) => (value === null ? Prisma.DbNull : value);

export async function insertLocation(tx: Sql, accountId: string, row: LocationRow): Promise<void> {
  const openingHours = row.opening_hours && JSON.stringify(row.opening_hours);
  await tx.$executeRaw`
    INSERT INTO locations (id, account_id, group_id, name, timezone, address, latitude, longitude, venue_type,
      opening_hours, status, created_at, updated_at)
    VALUES (${row.id}, ${accountId}, ${row.group_id}, ${row.name}, ${row.timezone}, ${row.address}, ${row.latitude},
      ${row.longitude}, ${row.venue_type}, ${openingHours}::jsonb, ${row.status}::"LocationStatus", ${row.created_at},
      ${row.updated_at})`;
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
