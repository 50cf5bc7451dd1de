import { getVisitsDwell } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import { scopeOf } from '../scope/index.ts';
import type { Dependencies } from './dependencies.ts';
import { findDwells, type ZoneRow } from './dwell.store.ts';
import { histogramOf } from './histogram.ts';

export const getVisitsDwellEndpoint = ({ figures, clock }: Dependencies) =>
  implement(getVisitsDwell, async ({ query, caller }) => {
    const { limit } = query;
    const pages = cursorScope(getVisitsDwell.operation, query);
    const [after] = readCursor(query.cursor, pages, ['string']) ?? [];
    const scope = scopeOf(caller, query);
    const about = { after, limit: limit + 1, now: clock.now() };
    const found = await figures.statement({ caller, about: 'dwell' }, (tx) => findDwells(tx, scope, about));
    const position = ({ zone_id }: ZoneRow) => [zone_id];
    return {
      ...{ from: scope.from, to: scope.to, as_of: found.as_of.toISOString() },
      overall: { ...found.overall, histogram: histogramOf(found.histogram ?? {}) },
      ...cutPage(found.zones, { limit, scope: pages, position, view: (zone) => zone }),
    };
  });
