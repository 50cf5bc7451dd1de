import type { AdFacts } from './facts.ts';
import type { ReachFacts } from './reach-facts.store.ts';
import type { Report } from './report.ts';
import { validate } from './validate.ts';

type PlannedAd = Omit<AdFacts, 'reaches' | 'kinds'>;

/** A campaign's content, as it is to be checked. */
interface Content {
  readonly end_date: string | null;
  readonly campaign_score: number | null;
  /** By position and id. */
  readonly ads: readonly PlannedAd[];
}

/** Checks a campaign with that reach as publishing does, in the eyes of whoever the facts are for. */
export function checkCampaign(content: Content, { kinds, reaching, ...figures }: ReachFacts, now: Date): Report {
  const { end_date, campaign_score, ads } = content;
  const reached = new Set(reaching);
  const kindsOf = Map.groupBy(kinds, ({ campaign_ad_id }) => campaign_ad_id);
  const facts = ads.map((ad) => ({
    ...ad,
    reaches: reached.has(ad.id),
    kinds: (kindsOf.get(ad.id) ?? []).map(({ campaign_ad_id: _, ...kind }) => kind),
  }));
  return validate({ ...figures, end_date, campaign_score, ads: facts }, now);
}
