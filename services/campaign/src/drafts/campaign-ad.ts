import { Problem } from '@attribution/contracts';

interface Place {
  readonly id: string;
  readonly ad_id: string;
  readonly screen_tag: string;
  readonly position: number;
}

const mostAds = 100;
const lastPosition = 9_999;

/** Throws `unprocessable` when there is no room for one more. */
export function requireRoomForAd(ads: readonly Place[]): void {
  if (ads.length >= mostAds) throw new Problem('unprocessable', `A campaign has at most ${mostAds} ads.`);
}

/** Throws `conflict` when another one of the campaign has this ad and tag. */
export function requireDistinct(ads: readonly Place[], one: Omit<Place, 'position'>): void {
  const same = ads.find((ad) => ad.id !== one.id && ad.ad_id === one.ad_id && ad.screen_tag === one.screen_tag);
  if (same) throw new Problem('conflict', `The campaign has ${one.ad_id} for ${one.screen_tag} already: ${same.id}.`);
}

/** After all others, as far as positions go. */
export const nextPosition = (ads: readonly Place[]): number =>
  Math.min(lastPosition, Math.max(-1, ...ads.map(({ position }) => position)) + 1);
