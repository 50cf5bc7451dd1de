import type { PlayingAd, PlayingCampaign } from './facts.ts';

/** An ad with its campaign. */
export interface Play {
  readonly ad: PlayingAd;
  readonly campaign: PlayingCampaign;
}

export const isInDates = ({ start_date, end_date }: PlayingCampaign, date: string): boolean =>
  (start_date === null || start_date <= date) && (end_date === null || date <= end_date);

/** Ids are ASCII, so code units are the order of their bytes. */
export const byText = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** The order in which ads of the same priority play. */
export const byTurn = (one: Play, other: Play): number =>
  one.campaign.published_at.getTime() - other.campaign.published_at.getTime() ||
  byText(one.campaign.id, other.campaign.id) ||
  one.ad.position - other.ad.position ||
  byText(one.ad.campaign_ad_id, other.ad.campaign_ad_id);

/** What plays of some plays in the order of their turns: those of the highest priority among the campaigns that are on. */
export function playlist(plays: readonly Play[], isOn: (campaign: PlayingCampaign) => boolean): readonly Play[] {
  const on = plays.filter(({ campaign }) => isOn(campaign));
  const highest = Math.max(...on.map(({ campaign }) => campaign.priority));
  return on.filter(({ campaign }) => campaign.priority === highest);
}
