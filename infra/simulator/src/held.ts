import type { Manifest } from './manifest.ts';

/**
 * What a manifest holds back, for each campaign as a manifest of its own: in its holdouts its ads, as other slots of the screen
 * have them, would play round and round.
 */
export function heldIn(manifest: Manifest): ReadonlyMap<string, Manifest> {
  const byCampaign = Map.groupBy(manifest.holdouts ?? [], ({ campaign_id }) => campaign_id);
  return new Map(
    [...byCampaign].map(([campaign, holdouts]) => {
      const own = new Set(
        manifest.items.filter((item) => item.campaign_id === campaign).map((item) => item.campaign_ad_id),
      );
      const screens = manifest.screens.map((screen) => {
        const all = new Set(screen.slots.flatMap(({ campaign_ad_ids }) => campaign_ad_ids));
        const campaign_ad_ids = [...all.intersection(own)];
        const slots = holdouts.map(({ start_at, end_at }) => ({ start_at, end_at, campaign_ad_ids }));
        return { ...screen, slots };
      });
      return [campaign, { ...manifest, screens }];
    }),
  );
}
