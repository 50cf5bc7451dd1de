import { listRefunds } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { BillingDatabase } from '../store.ts';
import { findRefunds } from './refund.store.ts';
import { viewRefund } from './refund.view.ts';

export const listRefundsEndpoint = (database: BillingDatabase) =>
  implement(listRefunds, async ({ query, caller }) => {
    const scope = cursorScope(listRefunds.operation);
    const [before] = readCursor(query.cursor, scope, ['string']) ?? [];
    const found = await findRefunds(database, caller.accountId, { limit: query.limit + 1, before });
    return cutPage(found, { limit: query.limit, scope, position: ({ id }) => [id], view: viewRefund });
  });
