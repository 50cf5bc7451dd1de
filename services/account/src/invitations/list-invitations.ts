import { listInvitations } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { AccountDatabase } from '../store.ts';
import { findInvitations } from './invitation.store.ts';
import { viewInvitation } from './invitation.view.ts';

export const listInvitationsEndpoint = ({ database, clock }: { database: AccountDatabase; clock: Clock }) =>
  implement(listInvitations, async ({ query, caller }) => {
    const scope = cursorScope(listInvitations.operation, query);
    const [before] = readCursor(query.cursor, scope, ['string']) ?? [];
    const found = await findInvitations(database, caller.accountId, { limit: query.limit + 1, before });
    const now = clock.now();
    const view = (row: (typeof found)[number]) => viewInvitation(row, now);
    return cutPage(found, { limit: query.limit, scope, position: (row) => [row.id], view });
  });
