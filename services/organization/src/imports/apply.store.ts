import { type EstateKind, looksLikeId } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { type Kind, refOf, selectionOf } from '../estate/index.ts';
import { kinds } from '../tree.ts';
import type { Columns } from './decide.ts';
import type { ImportRow } from './import.store.ts';

export const kindOf = (name: EstateKind) => kinds.find((kind) => kind.name === name) as unknown as Kind<never>;

const locks = { changing: 'FOR NO KEY UPDATE', holding: 'FOR KEY SHARE' } as const;

/**
 * The account's things that a file refers to, by what it calls them, locked until the commit. Each is looked up on its
 * own, by a range of one value in the order of the index: otherwise a plan with stale statistics might read everything
 * that the account has.
 */
export async function lockByRefs(
  tx: Sql,
  kind: Kind<never>,
  accountId: string,
  refs: readonly string[],
  mode: keyof typeof locks,
): Promise<Map<string, Columns>> {
  const [ids, names] = [refs.filter(looksLikeId), refs.filter((ref) => !looksLikeId(ref))];
  const byName = 't.external_id >= ref AND t.external_id <= ref ORDER BY t.external_id';
  const byId = 't.id = ref AND t.external_id IS NULL';
  const rows = [
    ...(await lockEach(tx, kind, accountId, names, byName, mode)),
    ...(await lockEach(tx, kind, accountId, ids, byId, mode)),
  ];
  return new Map(rows.map((row) => [refOf(row), row]));
}

/** Locks in the order of the refs, so that two transactions that lock some of the same rows cannot deadlock. */
async function lockEach(
  tx: Sql,
  kind: Kind<never>,
  accountId: string,
  refs: readonly string[],
  condition: string,
  mode: keyof typeof locks,
): Promise<Columns[]> {
  if (refs.length === 0) return [];
  const text = `SELECT ${selectionOf(kind)} FROM unnest($2::text[]) WITH ORDINALITY AS given (ref, at)
    CROSS JOIN LATERAL (
      SELECT t.* FROM ${kind.table} t WHERE t.account_id = $1 AND ${condition} LIMIT 1 ${locks[mode]}) t
    ORDER BY given.at`;
  const rows = await tx.$queryRawUnsafe<Columns[]>(text, accountId, refs.toSorted());
  // After waiting for a lock, the row is current, but its computed columns are from before the wait: read them again.
  return kind.computed && rows.length > 0 ? readAgain(tx, kind, rows) : rows;
}

async function readAgain(tx: Sql, kind: Kind<never>, rows: readonly Columns[]): Promise<Columns[]> {
  const text = `SELECT ${selectionOf(kind)} FROM ${kind.table} t WHERE t.id = ANY($1)`;
  return tx.$queryRawUnsafe<Columns[]>(
    text,
    rows.map(({ id }) => id),
  );
}

/** The kinds of which the account has nothing. */
export async function findEmptyKinds(db: Sql, accountId: string): Promise<Set<EstateKind>> {
  // The ORDER BY is an index's: for an account that has nothing, any other plan would read every account's rows.
  const columns = kinds.map(
    ({ name, table }) =>
      `(SELECT true FROM ${table} WHERE account_id >= $1 AND account_id <= $1 ORDER BY account_id, id LIMIT 1) AS "${name}"`,
  );
  const [has] = await db.$queryRawUnsafe<Record<EstateKind, true | null>[]>(`SELECT ${columns.join(', ')}`, accountId);
  return new Set(kinds.map(({ name }) => name).filter((name) => !has?.[name]));
}

/** The account of an import, and the groups that its creator sees. */
type Creator = Pick<ImportRow, 'account_id' | 'grants'>;

const groupsOf = ({ grants }: Creator) => grants && Object.keys(grants);

/** Which of these things exist and are visible to the creator of the import. */
export async function findExisting(
  db: Sql,
  kind: Kind<never>,
  creator: Creator,
  refs: readonly string[],
): Promise<string[]> {
  const group = kind.name === 'group' ? 't.id' : 't.group_id';
  const text = `SELECT coalesce(t.external_id, t.id) AS ref FROM ${kind.table} t
    WHERE t.account_id = $1 AND ($3::text[] IS NULL OR ${group} = ANY($3))
      AND ((t.external_id IS NOT NULL AND t.external_id = ANY($2)) OR (t.id = ANY($2) AND t.external_id IS NULL))`;
  const rows = await db.$queryRawUnsafe<{ ref: string }[]>(text, creator.account_id, refs, groupsOf(creator));
  return rows.map(({ ref }) => ref);
}

/** The locations of these zones, as far as they exist and are visible to the creator of the import. */
export async function findLocationsOfZones(
  db: Sql,
  creator: Creator,
  zones: readonly string[],
): Promise<{ zone: string; location: string }[]> {
  const groups = groupsOf(creator);
  return db.$queryRaw`
    SELECT coalesce(z.external_id, z.id) AS zone, coalesce(l.external_id, l.id) AS location
    FROM zones z JOIN locations l ON l.id = z.location_id
    WHERE z.account_id = ${creator.account_id} AND (${groups}::text[] IS NULL OR z.group_id = ANY(${groups}))
      AND ((z.external_id IS NOT NULL AND z.external_id = ANY(${zones})) OR (z.id = ANY(${zones}) AND z.external_id IS NULL))`;
}
