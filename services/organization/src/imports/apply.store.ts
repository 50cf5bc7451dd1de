import { type EstateKind, looksLikeId } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { type Kind, refOf, selectionOf } from '../estate/index.ts';
import { kinds } from '../tree.ts';
import type { Columns } from './decide.ts';
import type { ImportRow } from './import.store.ts';

export const kindOf = (name: EstateKind) => kinds.find((kind) => kind.name === name) as unknown as Kind<never>;

const locks = { changing: 'FOR NO KEY UPDATE', holding: 'FOR KEY SHARE' } as const;

/**
 * The account's things that a file calls so, by that; they stay as they are until the commit. Each is looked up by
 * itself, by a range of one value in the order of the index: a plan that was made while the tables were small, or knows
 * nothing of them, could else take to reading all that the account has.
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

/** In the order of their names, so that two who lock some of the same do not wait for each other. */
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
  // After a wait a row is as it is now, but what is computed of other tables as it was before: read it anew.
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
export async function findBare(db: Sql, accountId: string): Promise<Set<EstateKind>> {
  // In the order of an index: of an account that has nothing, any other plan would look at everybody's.
  const columns = kinds.map(
    ({ name, table }) =>
      `(SELECT true FROM ${table} WHERE account_id >= $1 AND account_id <= $1 ORDER BY account_id, id LIMIT 1) AS "${name}"`,
  );
  const [has] = await db.$queryRawUnsafe<Record<EstateKind, true | null>[]>(`SELECT ${columns.join(', ')}`, accountId);
  return new Set(kinds.map(({ name }) => name).filter((name) => !has?.[name]));
}

/** Whose file it is, and what of the account its maker saw. */
type Maker = Pick<ImportRow, 'account_id' | 'grants'>;

const groupsOf = ({ grants }: Maker) => grants && Object.keys(grants);

/** Which things are there for the maker, by what a file calls them. */
export async function findThere(db: Sql, kind: Kind<never>, maker: Maker, refs: readonly string[]): Promise<string[]> {
  const group = kind.name === 'group' ? 't.id' : 't.group_id';
  const text = `SELECT coalesce(t.external_id, t.id) AS ref FROM ${kind.table} t
    WHERE t.account_id = $1 AND ($3::text[] IS NULL OR ${group} = ANY($3))
      AND ((t.external_id IS NOT NULL AND t.external_id = ANY($2)) OR (t.id = ANY($2) AND t.external_id IS NULL))`;
  const rows = await db.$queryRawUnsafe<{ ref: string }[]>(text, maker.account_id, refs, groupsOf(maker));
  return rows.map(({ ref }) => ref);
}

/** In which location zones are that are there for the maker, both by what a file calls them. */
export async function findLocationsOfZones(
  db: Sql,
  maker: Maker,
  zones: readonly string[],
): Promise<{ zone: string; location: string }[]> {
  const groups = groupsOf(maker);
  return db.$queryRaw`
    SELECT coalesce(z.external_id, z.id) AS zone, coalesce(l.external_id, l.id) AS location
    FROM zones z JOIN locations l ON l.id = z.location_id
    WHERE z.account_id = ${maker.account_id} AND (${groups}::text[] IS NULL OR z.group_id = ANY(${groups}))
      AND ((z.external_id IS NOT NULL AND z.external_id = ANY(${zones})) OR (z.id = ANY(${zones}) AND z.external_id IS NULL))`;
}
