import { listPlays, type Play } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { z } from 'zod';
import type { AskSight } from '../campaigns/index.ts';
import { scopeOf } from '../scope/index.ts';
import type { EventsDatabase } from '../store.ts';
import { findPlays, type PlayRow } from './play.store.ts';

const view = ({ started_at, ended_at, received_at, ...row }: PlayRow): z.output<typeof Play> => ({
  ...row,
  started_at: started_at.toISOString(),
  ended_at: ended_at.toISOString(),
  received_at: received_at.toISOString(),
});

interface Dependencies {
  readonly database: EventsDatabase;
  readonly clock: Clock;
  readonly askSight: AskSight;
}

/** Account-wide callers see every campaign. For others a filter matches none that is out of their sight. */
export const listPlaysEndpoint = ({ database, clock, askSight }: Dependencies) =>
  implement(listPlays, async ({ query, caller }) => {
    const { limit } = query;
    const pages = cursorScope(listPlays.operation, query);
    const before = readCursor(query.cursor, pages, ['time', 'uuid']);
    const scope = scopeOf(caller, query);
    const named = query.campaign_ids;
    const campaignIds = named && caller.groups !== null ? await askSight(caller, named) : named;
    const { asOf, rows } = await database.snapshot((tx) =>
      findPlays(tx, scope, {
        ...{ before, now: clock.now(), limit: limit + 1, holdout: query.holdout === 'true' },
        ...{ screenIds: query.screen_ids, campaignIds },
      }),
    );
    const position = ({ started_at, event_id }: PlayRow) => [started_at.getTime(), event_id];
    return {
      ...{ from: scope.from, to: scope.to, as_of: asOf.toISOString() },
      ...cutPage(rows, { limit, scope: pages, position, view }),
    };
  });
