import { type EstateKind, estateKinds, estateSnapshot, type Input, type Output } from '@attribution/contracts';
import { cursorScope, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import { type EstateRow, findAll, type Kind, stateOf } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { kinds } from '../tree.ts';

type Page = Output<typeof estateSnapshot>;

/** Where a page begins: behind a row of a kind. */
interface Position {
  readonly kind: EstateKind;
  readonly after: string;
}

export const estateSnapshotEndpoint = (database: OrganizationDatabase) =>
  implement(estateSnapshot, async ({ query }) => {
    const scope = cursorScope(estateSnapshot.operation, query);
    const [kind, after] = readCursor(query.cursor, scope, ['string', 'string']) ?? [];
    const kindNames = estateKinds.filter((name) => query.kinds?.includes(name) ?? true);
    const from = { kind: kindNames.find((name) => name === kind) ?? kindNames[0] ?? 'group', after: after ?? '' };
    const { page, next } = await readFrom(database, query, kindNames, from);
    const cursor = next && Buffer.from(JSON.stringify([scope, next.kind, next.after])).toString('base64url');
    return { ...page, next_cursor: cursor ?? null };
  });

/** Fills a page with one kind after the other. `next` is where the next page begins; undefined at the end. */
async function readFrom(
  { sql }: OrganizationDatabase,
  query: Input<typeof estateSnapshot>['query'],
  kindNames: readonly EstateKind[],
  from: Position,
): Promise<{ page: Omit<Page, 'next_cursor'>; next: Position | undefined }> {
  const page: Record<string, object[]> = {};
  for (const { name } of kinds) page[`${name}s`] = [];
  let room = query.limit;
  for (const name of kindNames.slice(kindNames.indexOf(from.kind))) {
    const kind = kinds.find((one) => one.name === name) as Kind<EstateRow>;
    const after = name === from.kind ? from.after : '';
    const rows = await findAll(sql, kind, { accountId: query.account_id, after, limit: room + 1 });
    const kept = rows.slice(0, room);
    page[`${name}s`] = kept.map((row) => stateOf(kind, row));
    const last = kept.at(-1)?.id ?? after;
    if (rows.length > room) return { page: page as never, next: { kind: name, after: last } };
    room -= kept.length;
  }
  return { page: page as never, next: undefined };
}
