import { listAds } from '@attribution/contracts';
import { cursorScope, cutPage, readCursor } from '@attribution/database';
import { implement } from '@attribution/service';
import { type AdRow, findAds } from './ad.store.ts';
import { viewAd } from './ad.view.ts';
import type { Dependencies } from './dependencies.ts';

export const listAdsEndpoint = ({ database: { sql }, posterUrl }: Dependencies) =>
  implement(listAds, async ({ query, caller }) => {
    const scope = cursorScope(listAds.operation, query);
    const [before] = readCursor(query.cursor, scope, ['string']) ?? [];
    const found = await findAds(sql, caller, { ...query, limit: query.limit + 1, before });
    const [position, view] = [({ id }: AdRow) => [id], (ad: AdRow) => viewAd(ad, posterUrl)];
    return cutPage(found, { limit: query.limit, scope, position, view });
  });
