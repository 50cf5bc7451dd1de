import { type EstateKind, freePlan } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { Tx } from '../store.ts';

interface Limits {
  readonly account_id: string;
  readonly limits_version: number;
  readonly locations: number | null;
  readonly screens: number | null;
}

/** Writes the limits, unless later ones are known. */
export async function putLimits(tx: Tx, { account_id, limits_version, locations, screens }: Limits): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO account_limits AS l (account_id, limits_version, max_locations, max_screens)
    VALUES (${account_id}, ${limits_version}, ${locations}, ${screens})
    ON CONFLICT (account_id) DO UPDATE SET limits_version = excluded.limits_version,
      max_locations = excluded.max_locations, max_screens = excluded.max_screens
    WHERE l.limits_version < excluded.limits_version`;
}

export async function deleteLimits(tx: Sql, accountId: string): Promise<void> {
  await tx.$executeRaw`DELETE FROM account_limits WHERE account_id = ${accountId}`;
  await tx.$executeRaw`DELETE FROM estate_totals WHERE account_id = ${accountId}`;
}

/** The column of a kind that plans limit, and what the free plan allows. */
const planned: Partial<Record<EstateKind, { readonly column: string; readonly free: number }>> = {
  location: { column: 'max_locations', free: freePlan.locations },
  screen: { column: 'max_screens', free: freePlan.screens },
};

interface Room {
  /** How many rows of the kind the account may have. */
  readonly allowed: number;
  /** How many more it may have; negative if they are too many. */
  readonly room: number;
}

/** Closer to the limit than this, concurrent transactions wait for each other: together they insert fewer rows. */
const margin = 20_000;

/** See `estate_room` in the migrations. `most` holds for every plan. */
export async function readRoom(tx: Sql, accountId: string, kind: EstateKind, most: number): Promise<Room> {
  const plan = planned[kind];
  const byPlan = plan ? `CASE WHEN l.account_id IS NULL THEN ${plan.free} ELSE l.${plan.column} END` : 'NULL';
  const text = `SELECT allowed, estate_room($1, $2, allowed, ${margin}) AS room
    FROM (SELECT least($3::int, ${byPlan}) AS allowed FROM (SELECT) one LEFT JOIN account_limits l ON l.account_id = $1) t`;
  const [row] = await tx.$queryRawUnsafe<Room[]>(text, accountId, kind, most);
  if (!row) throw new Error(`The database says nothing about the room of ${accountId}`);
  return row;
}
