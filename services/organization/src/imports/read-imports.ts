import { getEstateImport, listEstateImports, Problem } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import { visibleCreator } from './grants.ts';
import { findImport, findImports } from './import.store.ts';
import { viewImport } from './import.view.ts';

export const listEstateImportsEndpoint = ({ sql }: OrganizationDatabase) =>
  implement(listEstateImports, async ({ query, caller }) => {
    const scope = cursorScope(listEstateImports.operation, query);
    const [before] = readCursor(query.cursor, scope, ['string']) ?? [];
    const found = await findImports(sql, caller.accountId, visibleCreator(caller), { limit: query.limit + 1, before });
    return cutPage(found, { limit: query.limit, scope, position: ({ id }) => [id], view: viewImport });
  });

export const getEstateImportEndpoint = ({ sql }: OrganizationDatabase) =>
  implement(getEstateImport, async ({ params, caller }) => {
    const found = await findImport(sql, caller.accountId, visibleCreator(caller), params.id);
    if (!found) throw Problem.notFound();
    return viewImport(found);
  });
