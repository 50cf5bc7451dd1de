import { type EstateKind, Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { readRoom } from './limit.store.ts';

/** Rows of each kind that an account may have, whatever its plan. */
const mostRows = 100_000;

/** Says what the limit is, for people. */
export function limitOf(kind: EstateKind, allowed: number): string {
  const what = allowed === 1 ? kind : `${kind}s`;
  return allowed < mostRows ? `The plan allows ${allowed} ${what}.` : `An account has at most ${mostRows} ${what}.`;
}

/** How many more rows of a kind the account may have. Called when all rows of the transaction are inserted, and before its events are appended. */
export const findRoom = (tx: Sql, accountId: string, kind: EstateKind) => readRoom(tx, accountId, kind, mostRows);

/** Throws `unprocessable` if the account has more rows of a kind than it may have. Called like `findRoom`. */
export async function requireRoom(tx: Sql, accountId: string, kinds: Iterable<EstateKind>): Promise<void> {
  for (const kind of kinds) {
    const { allowed, room } = await findRoom(tx, accountId, kind);
    if (room < 0) throw new Problem('unprocessable', limitOf(kind, allowed));
  }
}
