import { listPayments } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import type { BillingDatabase } from '../store.ts';
import { findPayments } from './payment.store.ts';
import { viewPayment } from './payment.view.ts';

export const listPaymentsEndpoint = (database: BillingDatabase) =>
  implement(listPayments, async ({ query, caller }) => {
    const scope = cursorScope(listPayments.operation);
    const [before] = readCursor(query.cursor, scope, ['string']) ?? [];
    const found = await findPayments(database, caller.accountId, { limit: query.limit + 1, before });
    return cutPage(found, { limit: query.limit, scope, position: ({ id }) => [id], view: viewPayment });
  });
