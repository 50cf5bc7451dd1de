import { getAd, Problem } from '@attribution/contracts';
import { implement } from '@attribution/service';
import { findAd } from './ad.store.ts';
import { viewAd } from './ad.view.ts';
import type { Dependencies } from './dependencies.ts';

export const getAdEndpoint = ({ database: { sql }, posterUrl }: Dependencies) =>
  implement(getAd, async ({ params, caller }) => {
    const ad = await findAd(sql, caller, params.id);
    if (!ad) throw Problem.notFound();
    return viewAd(ad, posterUrl);
  });
