import { NewPlay } from '@attribution/contracts';
import type { z } from 'zod';
import { type AskVersions, findAds, type KnownAd } from '../campaigns/index.ts';
import { hoursOf } from '../dirty/index.ts';
import { type AskEstate, findLocationsOf, findScreens, type KnownScreen } from '../estate/index.ts';
import type { EventsDatabase } from '../store.ts';
import type { ItemKind, ItemRow } from './items.ts';

type Play = z.output<typeof NewPlay>;

export interface PlayRow extends ItemRow {
  readonly zone_id: string | null;
  readonly screen_id: string;
  readonly campaign_id: string;
  readonly campaign_ad_id: string;
  readonly version: number;
  readonly completed: boolean;
  readonly holdout: boolean;
}

interface Known {
  /** Where the device is, or once was. */
  readonly locations: ReadonlySet<string>;
  readonly screens: ReadonlyMap<string, KnownScreen>;
  readonly ads: ReadonlyMap<string, KnownAd>;
}

function screenFault({ screen_id }: Play, { locations, screens }: Known): string | undefined {
  const screen = screens.get(screen_id);
  return screen && locations.has(screen.location_id)
    ? undefined
    : `screen_id: ${screen_id} is no screen of a location in which this device is or was.`;
}

function adFault({ campaign_ad_id, version }: Play, { ads }: Known): string | undefined {
  const ad = ads.get(campaign_ad_id);
  if (!ad) return `campaign_ad_id: ${campaign_ad_id} is in no published campaign of the account.`;
  return ad.versions.has(version) ? undefined : `version: ${version} of ${ad.campaign_id} was never published.`;
}

const distinct = (ids: readonly string[]) => [...new Set(ids)];

export const playKind = (
  { sql }: EventsDatabase,
  { estate, versions }: { readonly estate: AskEstate; readonly versions: AskVersions },
): ItemKind<Play, Known, PlayRow> => ({
  table: 'plays',
  schema: NewPlay,
  faultOf: (item, known) => screenFault(item, known) ?? adFault(item, known),

  async find(device, items) {
    const [locations, screens, ads] = await Promise.all([
      findLocationsOf(sql, device),
      findScreens(sql, device.accountId, distinct(items.map(({ screen_id }) => screen_id))),
      findAds(sql, device.accountId, distinct(items.map(({ campaign_ad_id }) => campaign_ad_id))),
    ]);
    return { locations, screens, ads };
  },

  async ask(device, items, known) {
    const lost = items.filter((item) => screenFault(item, known) !== undefined).map(({ screen_id }) => screen_id);
    const unread = items.filter((item) => adFault(item, known) !== undefined).map((item) => item.campaign_ad_id);
    if (lost.length > 0) await estate(device, distinct(lost));
    if (unread.length > 0) await versions(device.accountId, distinct(unread));
  },

  intervalOf: ({ started_at, ended_at }, corrected) => ({ start: corrected(started_at), end: corrected(ended_at) }),

  /** The item was judged, so what it refers to is known. */
  rowOf({ event_id, screen_id, campaign_ad_id, version, completed, holdout }, { screens, ads }) {
    const [screen, ad] = [screens.get(screen_id), ads.get(campaign_ad_id)];
    return {
      ...{ event_id, screen_id, campaign_ad_id, version, completed, holdout },
      location_id: screen?.location_id ?? '',
      zone_id: screen?.zone_id ?? null,
      campaign_id: ad?.campaign_id ?? '',
    };
  },

  /** A visit of any day may have met it. */
  dirtied: ({ location_id }, { start, end }) => hoursOf(location_id, start, end),
});
