import type { Principal } from '@attribution/auth';
import { type Endpoint, type LibraryChange, type NewLibrary, Problem } from '@attribution/contracts';
import { cursorScope, cutPage, isForeignKeyViolation, readCursor } from '@attribution/database';
import { newId } from '@attribution/ids';
import type { Clock } from '@attribution/runtime';
import { changedFields, implement, implementWrite, type WriteEndpoint } from '@attribution/service';
import type { z } from 'zod';
import { defaultGroupId, requireGroup } from '../groups/index.ts';
import type { CampaignDatabase } from '../store.ts';
import {
  deleteLibrary,
  findLibraries,
  findLibrary,
  insertLibrary,
  lockLibrary,
  replaceLibrary,
} from './library.store.ts';
import { type CountedLibrary, type LibraryKind, newLibrary, viewLibrary } from './library.ts';

/** The endpoints of libraries, which are the same for every kind. Contracts of both kinds have the same shapes. */

type ReadEndpoint = Endpoint & { readonly method: 'GET' };

interface Dependencies {
  readonly database: CampaignDatabase;
  readonly clock: Clock;
}

interface ListQuery {
  readonly cursor?: string | undefined;
  readonly limit: number;
  readonly query?: string | undefined;
  readonly group_ids?: readonly string[] | undefined;
}

const idOf = (params: unknown) => (params as { readonly id: string }).id;

export const listEndpoint = ({ database: { sql } }: Dependencies, kind: LibraryKind, contract: ReadEndpoint) =>
  implement(contract, async (input) => {
    const query = input.query as unknown as ListQuery;
    const scope = cursorScope(contract.operation, query);
    const [before] = readCursor(query.cursor, scope, ['string']) ?? [];
    const found = await findLibraries(sql, kind, input.caller as Principal, {
      ...query,
      limit: query.limit + 1,
      before,
    });
    const position = (row: CountedLibrary) => [row.id];
    return cutPage(found, { limit: query.limit, scope, position, view: (row) => viewLibrary(kind, row) }) as never;
  });

export const createEndpoint = ({ database, clock }: Dependencies, kind: LibraryKind, contract: WriteEndpoint) =>
  implementWrite(contract, database.sqlTransaction, async (input) => {
    const caller = input.caller as Principal;
    const body = input.body as unknown as z.output<typeof NewLibrary>;
    const { name, description, group_id = defaultGroupId(caller) } = body;
    const row = newLibrary(newId(kind.id), caller, { group_id, name, description }, clock.now());
    return input.transaction(async (tx) => {
      if (body.group_id) await requireGroup(tx, caller, body.group_id);
      await insertLibrary(tx, kind, row);
      return viewLibrary(kind, row) as never;
    });
  });

export const getEndpoint = ({ database: { sql } }: Dependencies, kind: LibraryKind, contract: ReadEndpoint) =>
  implement(contract, async ({ params, caller }) => {
    const row = await findLibrary(sql, kind, caller as Principal, idOf(params));
    if (!row) throw Problem.notFound();
    return viewLibrary(kind, row) as never;
  });

export const updateEndpoint = ({ database, clock }: Dependencies, kind: LibraryKind, contract: WriteEndpoint) =>
  implementWrite(contract, database.sqlTransaction, async (input) => {
    const caller = input.caller as Principal;
    const change = input.body as unknown as z.output<typeof LibraryChange>;
    return input.transaction(async (tx, note) => {
      const row = await lockLibrary(tx, kind, caller, idOf(input.params), 'change');
      if (!row) throw Problem.notFound();
      const { name = row.name, description = row.description, group_id = row.group_id } = change;
      if (group_id !== row.group_id) await requireGroup(tx, caller, group_id);
      const fields = { name, description, group_id };
      note({ changed: changedFields(row, fields) });
      return viewLibrary(kind, await replaceLibrary(tx, kind, row, fields, clock.now())) as never;
    });
  });

/** The foreign key of what is in a library refuses to let it go. */
export const deleteEndpoint = ({ database }: Dependencies, kind: LibraryKind, contract: WriteEndpoint) =>
  implementWrite(contract, database.sqlTransaction, async (input) => {
    const id = idOf(input.params);
    try {
      return await input.transaction(async (tx) => {
        const row = await lockLibrary(tx, kind, input.caller as Principal, id, 'change');
        if (!row) throw Problem.notFound();
        await deleteLibrary(tx, kind, id);
        return undefined as never;
      });
    } catch (error) {
      if (!isForeignKeyViolation(error)) throw error;
      throw new Problem('conflict', 'The library is not empty.');
    }
  });
