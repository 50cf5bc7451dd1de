import { type EstateKind, estateKinds, estateSnapshot, type Input, type Output } from '@attribution/contracts';
import { cursorScope, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import { type EstateRow, findAll, type Kind, stateOf } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { kinds } from '../tree.ts';

type Page = Output<typeof estateSnapshot>;

/** Where a page begins: after which row of which kind. */
interface Place {
  readonly kind: EstateKind;
  readonly after: string;
}

export const estateSnapshotEndpoint = (database: OrganizationDatabase) =>
  implement(estateSnapshot, async ({ query }) => {
    const scope = cursorScope(estateSnapshot.operation, query);
    const [kind, after] = readCursor(query.cursor, scope, ['string', 'string']) ?? [];
    const wanted = estateKinds.filter((name) => query.kinds?.includes(name) ?? true);
    const from = { kind: wanted.find((name) => name === kind) ?? wanted[0] ?? 'group', after: after ?? '' };
    const { page, next } = await readFrom(database, query, wanted, from);
    const cursor = next && Buffer.from(JSON.stringify([scope, next.kind, next.after])).toString('base64url');
    return { ...page, next_cursor: cursor ?? null };
  });

/** Fills a page with one kind after the other, and says where the next one begins. */
async function readFrom(
  { sql }: OrganizationDatabase,
  query: Input<typeof estateSnapshot>['query'],
  wanted: readonly EstateKind[],
  from: Place,
): Promise<{ page: Omit<Page, 'next_cursor'>; next: Place | undefined }> {
  const page: Record<string, object[]> = {};
  for (const { name } of kinds) page[`${name}s`] = [];
  let room = query.limit;
  for (const name of wanted.slice(wanted.indexOf(from.kind))) {
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
