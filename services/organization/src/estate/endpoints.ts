import type { Principal } from '@attribution/auth';
import { type Endpoint, Problem } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import type { EstateRow, Kind } from './kind.ts';
import { type Filters, findPage } from './page.store.ts';
import { scopeOf } from './scope.ts';
import { findOne } from './tree.store.ts';
import type { Writer } from './writer.ts';

/** Lists, gets and deletions are alike for every kind: here is how, and what of it the caller sees. */

type Asked = Filters & { readonly cursor?: string | undefined; readonly limit: number };

/** A page of a kind, oldest first. What was there when the first page was read, and stays, is in one page, once. */
export async function readPage<Row extends EstateRow, View extends object>(
  { sql }: OrganizationDatabase,
  kind: Kind<Row, View>,
  { operation }: Pick<Endpoint, 'operation'>,
  caller: Principal,
  query: Asked,
): Promise<{ entries: View[]; next_cursor: string | null }> {
  const scope = cursorScope(operation, query);
  const [after] = readCursor(query.cursor, scope, ['string']) ?? [];
  const rows = await findPage(sql, kind, scopeOf(caller), query, { limit: query.limit + 1, after });
  const page = cutPage(rows, { limit: query.limit, scope, position: (row) => [row.id] });
  return { entries: page.rows.map(kind.view), next_cursor: page.next_cursor };
}

export function listEndpoint<Row extends EstateRow>(
  database: OrganizationDatabase,
  kind: Kind<Row>,
  contract: Endpoint,
) {
  return implement(
    contract,
    async ({ query, caller }) =>
      readPage(database, kind, contract, caller as Principal, query as unknown as Asked) as never,
  );
}

type OfOne = { readonly id: string };

export function getEndpoint<Row extends EstateRow>({ sql }: OrganizationDatabase, kind: Kind<Row>, contract: Endpoint) {
  return implement(contract, async ({ params, caller }) => {
    const row = await findOne(sql, kind, scopeOf(caller as Principal), (params as unknown as OfOne).id);
    if (!row) throw Problem.notFound();
    return kind.view(row) as never;
  });
}

/** What has something in it is not deleted: its children's foreign keys say so. */
export function deleteEndpoint<Row extends EstateRow>(write: Writer, kind: Kind<Row>, contract: Endpoint) {
  return implement(
    contract,
    async ({ params, caller, request }) =>
      write({ caller: caller as Principal, request }, async (change) => {
        await change.remove(kind, await change.lock(kind, (params as unknown as OfOne).id, 'removing'));
      }) as never,
  );
}
