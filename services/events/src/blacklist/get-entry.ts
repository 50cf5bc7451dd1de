import { getBlacklistEntry, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import type { Dependencies } from './dependencies.ts';
import { findEntry } from './entry.store.ts';
import { viewEntry } from './entry.ts';

export const getEntryEndpoint = ({ database: { sql } }: Dependencies) =>
  implement(getBlacklistEntry, async ({ params, caller }) => {
    const row = await findEntry(sql, caller, params.id);
    if (!row) throw Problem.notFound();
    return viewEntry(row);
  });
