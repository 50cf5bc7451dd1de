import { type Principal, visibleGroupIds } from '@attribution/auth';
import { anyOf, type Sql } from '@attribution/database';
import { type RawBuilder, sql } from 'kysely';
import { db } from '../store.ts';
import type { CountedLibrary, LibraryFields, LibraryKind, LibraryRow } from './library.ts';

/** Both kinds have the same columns. Kysely is told one of the names, so that it knows them. */
const tableOf = ({ table }: LibraryKind) => table as 'media_libraries';

/**
 * The libraries that the caller sees: all of its account, or, for a narrowed caller, those of its groups and those that
 * it created. What is in a library is seen with it.
 */
export function librariesOf(tx: Sql, kind: LibraryKind, caller: Principal) {
  const groups = visibleGroupIds(caller);
  const inAccount = db(tx).selectFrom(tableOf(kind)).where('account_id', '=', caller.accountId);
  if (!groups) return inAccount;
  return inAccount.where((library) =>
    library.or([library('group_id', '=', anyOf(groups)), library('created_by', '=', caller.id)]),
  );
}

const countOf = ({ table, contents }: LibraryKind): RawBuilder<number> =>
  sql<number>`(SELECT count(*)::int FROM ${sql.table(contents.table)}
    WHERE ${sql.ref(`${contents.table}.${contents.column}`)} = ${sql.ref(`${table}.id`)})`;

interface LibraryFilters {
  readonly query?: string | undefined;
  readonly group_ids?: readonly string[] | undefined;
}

/** A LIKE pattern for names that contain the text, with `%`, `_` and `\` escaped. */
export const containing = (text: string) => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

/** Newest first. */
export async function findLibraries(
  tx: Sql,
  kind: LibraryKind,
  caller: Principal,
  page: LibraryFilters & { readonly limit: number; readonly before: string | undefined },
): Promise<CountedLibrary[]> {
  let libraries = librariesOf(tx, kind, caller);
  if (page.before !== undefined) libraries = libraries.where('id', '<', page.before);
  if (page.group_ids) libraries = libraries.where('group_id', '=', anyOf(page.group_ids));
  if (page.query !== undefined) libraries = libraries.where('name', 'ilike', containing(page.query));
  return libraries.selectAll().select(countOf(kind).as('count')).orderBy('id', 'desc').limit(page.limit).execute();
}

export async function findLibrary(
  tx: Sql,
  kind: LibraryKind,
  caller: Principal,
  id: string,
): Promise<CountedLibrary | undefined> {
  const libraries = librariesOf(tx, kind, caller).where('id', '=', id);
  return libraries.selectAll().select(countOf(kind).as('count')).executeTakeFirst();
}

/** `change`: nobody else changes it or puts something into it meanwhile. `use`: nobody deletes it meanwhile. */
export async function lockLibrary(
  tx: Sql,
  kind: LibraryKind,
  caller: Principal,
  id: string,
  mode: 'change' | 'use',
): Promise<CountedLibrary | undefined> {
  const libraries = librariesOf(tx, kind, caller).where('id', '=', id);
  const locked = mode === 'use' ? libraries.forKeyShare() : libraries.forUpdate();
  return locked.selectAll().select(countOf(kind).as('count')).executeTakeFirst();
}

export async function insertLibrary(tx: Sql, kind: LibraryKind, row: LibraryRow): Promise<void> {
  const { id, account_id, group_id, name, description, created_by, created_at, updated_at } = row;
  const columns = { id, account_id, group_id, name, description, created_by, created_at, updated_at };
  await db(tx).insertInto(tableOf(kind)).values(columns).execute();
}

export async function replaceLibrary(
  tx: Sql,
  kind: LibraryKind,
  row: CountedLibrary,
  fields: LibraryFields,
  now: Date,
): Promise<CountedLibrary> {
  const changed = { ...fields, updated_at: now };
  await db(tx).updateTable(tableOf(kind)).set(changed).where('id', '=', row.id).execute();
  return { ...row, ...changed };
}

export async function deleteLibrary(tx: Sql, kind: LibraryKind, id: string): Promise<void> {
  await db(tx).deleteFrom(tableOf(kind)).where('id', '=', id).execute();
}
