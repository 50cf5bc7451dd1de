import type { Target } from '@attribution/contracts';
import type { TestService } from '@attribution/testing';
import type { z } from 'zod';

interface Screen {
  readonly id: string;
  readonly location_id: string;
  readonly tags: readonly string[];
}
interface Location {
  readonly id: string;
  readonly group_id: string;
}
type Selection = z.output<typeof Target>['include'];

/** The rule of the reach said once more, slowly, one screen at a time: whether a screen is in the target. */
function isTargeted(screen: Screen, { group_id }: Location, { include, exclude }: z.output<typeof Target>): boolean {
  const has = ({ tags }: Selection) => tags.some((tag) => screen.tags.includes(tag));
  const isPlaced = ({ group_ids, location_ids }: Selection) =>
    group_ids.includes(group_id) || location_ids.includes(screen.location_id);
  const { group_ids, location_ids, tags } = include;
  if ([...group_ids, ...location_ids, ...tags].length === 0) return false;
  if (group_ids.length + location_ids.length > 0 && !isPlaced(include)) return false;
  if (tags.length > 0 && !has(include)) return false;
  return !isPlaced(exclude) && !has(exclude);
}

/** `<campaign ad> <screen>` for each pair that should play, sorted. */
export const expectedPairs = (
  screens: readonly Screen[],
  locations: readonly Location[],
  target: z.output<typeof Target>,
  ads: readonly { readonly id: string; readonly screen_tag: string }[],
): string[] =>
  ads
    .flatMap(({ id, screen_tag }) =>
      screens
        .filter((screen) => screen.tags.includes(screen_tag))
        .filter((screen) => {
          const location = locations.find((one) => one.id === screen.location_id);
          return location !== undefined && isTargeted(screen, location, target);
        })
        .map((screen) => `${id} ${screen.id}`),
    )
    .toSorted();

/** The same of what is live. */
export async function livePairs(service: TestService, campaignId: string): Promise<string[]> {
  const { rows } = await service.db.query<{ pair: string }>(
    `SELECT campaign_ad_id || ' ' || screen_id AS pair FROM placements
     WHERE campaign_id = $1 AND valid_to IS NULL`,
    [campaignId],
  );
  return rows.map(({ pair }) => pair).toSorted();
}

/** Pairs of intervals of one campaign ad and screen that overlap: there are none. */
export async function overlaps(service: TestService): Promise<number> {
  const { rows } = await service.db.query(
    `SELECT FROM placements AS one JOIN placements AS other USING (campaign_ad_id, screen_id)
     WHERE one.valid_from < other.valid_from AND coalesce(one.valid_to, 'infinity') > other.valid_from`,
  );
  return rows.length;
}
