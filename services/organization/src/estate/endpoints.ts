import type { Principal } from '@attribution/auth';
import { type Endpoint, Problem } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement, implementWrite } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import type { EstateRow, Kind } from './kind.ts';
import { type Filters, findPage } from './page.store.ts';
import { scopeOf } from './scope.ts';
import { findOne } from './tree.store.ts';
import type { Writer } from './writer.ts';

/** Lists, gets and deletions, which are the same for every kind, limited to what the caller sees. */

type ListQuery = Filters & { readonly cursor?: string | undefined; readonly limit: number };

/** A page of a kind, oldest first. A row that exists from the first page to the last is in exactly one of them. */
export async function readPage<Row extends EstateRow, View extends object>(
  { sql }: OrganizationDatabase,
  kind: Kind<Row, View>,
  { operation }: Pick<Endpoint, 'operation'>,
  caller: Principal,
  query: ListQuery,
): Promise<{ entries: View[]; next_cursor: string | null }> {
  const scope = cursorScope(operation, query);
  const [after] = readCursor(query.cursor, scope, ['string']) ?? [];
  const rows = await findPage(sql, kind, scopeOf(caller), query, { limit: query.limit + 1, after });
  return cutPage(rows, { limit: query.limit, scope, position: (row) => [row.id], view: kind.view });
}

export function listEndpoint<Row extends EstateRow>(
  database: OrganizationDatabase,
  kind: Kind<Row>,
  contract: Endpoint,
) {
  return implement(
    contract,
    async ({ query, caller }) =>
      readPage(database, kind, contract, caller as Principal, query as unknown as ListQuery) as never,
  );
}

type IdParams = { readonly id: string };

export function getEndpoint<Row extends EstateRow>({ sql }: OrganizationDatabase, kind: Kind<Row>, contract: Endpoint) {
  return implement(contract, async ({ params, caller }) => {
    const row = await findOne(sql, kind, scopeOf(caller as Principal), (params as unknown as IdParams).id);
    if (!row) throw Problem.notFound();
    return kind.view(row) as never;
  });
}

/** Deletes a row. The foreign keys of its children refuse that while it has any. */
export function deleteEndpoint<Row extends EstateRow>(
  database: OrganizationDatabase,
  write: Writer,
  kind: Kind<Row>,
  contract: Endpoint & { readonly external?: undefined },
) {
  return implementWrite(
    contract,
    database.sqlTransaction,
    async ({ params, caller, request, transaction }) =>
      write({ caller: caller as Principal, request, transaction }, async (change) => {
        await change.remove(kind, await change.lock(kind, (params as unknown as IdParams).id, 'removing'));
      }) as never,
  );
}
