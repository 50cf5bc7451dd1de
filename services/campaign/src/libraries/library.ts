import type { Principal } from '@attribution/auth';
import type { IdKind } from '@attribution/contracts';

/** What a library consists of; ad libraries have the same columns. */
export interface LibraryRow {
  readonly id: string;
  readonly account_id: string;
  readonly group_id: string | null;
  readonly name: string;
  readonly description: string | null;
  readonly created_by: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}
export type LibraryFields = Pick<LibraryRow, 'group_id' | 'name' | 'description'>;
export type CountedLibrary = LibraryRow & { readonly count: number };

/** A kind of library: where it is kept, and what is in it. */
export interface LibraryKind {
  readonly id: IdKind;
  readonly table: 'media_libraries' | 'ad_libraries';
  /** What the number of things in it is called. */
  readonly count: 'asset_count' | 'ad_count';
  /** The table of these, and its column with the library's id. Their foreign key keeps a library that is not empty. */
  readonly contents: { readonly table: string; readonly column: string };
}

export const mediaLibraries: LibraryKind = {
  id: 'media_library',
  table: 'media_libraries',
  count: 'asset_count',
  contents: { table: 'media_assets', column: 'media_library_id' },
};

export const adLibraries: LibraryKind = {
  id: 'ad_library',
  table: 'ad_libraries',
  count: 'ad_count',
  contents: { table: 'ads', column: 'ad_library_id' },
};

export function newLibrary(id: string, caller: Principal, fields: LibraryFields, now: Date): CountedLibrary {
  const made = { created_by: caller.id, created_at: now, updated_at: now };
  return { id, account_id: caller.accountId, ...fields, ...made, count: 0 };
}

export function viewLibrary({ count }: LibraryKind, row: CountedLibrary) {
  return {
    id: row.id,
    account_id: row.account_id,
    group_id: row.group_id,
    name: row.name,
    description: row.description,
    [count]: row.count,
    created_by: row.created_by,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
  };
}
