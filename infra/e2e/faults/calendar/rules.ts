import { createHash } from 'node:crypto';

/**
 * What plays on a screen at an instant, from what the owner has published and from the clock on the wall there: a plain
 * reading of the rules of manifests, which shares nothing with Campaign, not even how local time is found.
 */

/** A live version of a campaign. */
export interface LiveCampaign {
  readonly id: string;
  readonly version: number;
  readonly published_at: string;
  readonly priority: number;
  readonly start_date: string | null;
  readonly end_date: string | null;
  readonly holdout_percent: number;
  /** Whether its target reaches a screen. */
  readonly reaches: (screen: KnownScreen) => boolean;
  readonly ads: readonly { readonly id: string; readonly screen_tag: string; readonly position: number }[];
}

export interface KnownScreen {
  readonly id: string;
  readonly location: string;
  readonly timezone: string;
  readonly tags: readonly string[];
}

interface WallClock {
  readonly date: string;
  readonly hour: string;
}

const quarterMs = 900_000; // Zones differ from UTC, and shift, by whole quarters of an hour.
const formats = new Map<string, Intl.DateTimeFormat>();
const known = new Map<string, WallClock>();

/** The local date and hour, as people there read them off the wall. */
export function wallClock(instant: number, timeZone: string): WallClock {
  const quarter = Math.floor(instant / quarterMs) * quarterMs;
  const key = `${timeZone} ${quarter}`;
  const found = known.get(key);
  if (found) return found;
  const fields = { year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', hourCycle: 'h23' } as const;
  const format = formats.get(timeZone) ?? new Intl.DateTimeFormat('en-CA', { timeZone, ...fields });
  formats.set(timeZone, format);
  const parts = Object.fromEntries(format.formatToParts(quarter).map(({ type, value }) => [type, value]));
  const read = { date: `${parts.year}-${parts.month}-${parts.day}`, hour: String(parts.hour) };
  known.set(key, read);
  return read;
}

const buckets = new Map<string, number>();

/** The figure from 0 to 99 by which an hour is held out. */
export function bucketOf(text: string): number {
  const found =
    buckets.get(text) ?? Number(BigInt(`0x${createHash('sha256').update(text).digest('hex').slice(0, 16)}`) % 100n);
  buckets.set(text, found);
  return found;
}

export interface Expected {
  /** Campaign ads in the order of their turns. */
  readonly plays: readonly string[];
  /** Campaigns with an ad on the screen that are kept off. */
  readonly heldOut: readonly string[];
}

export function expectedAt(campaigns: readonly LiveCampaign[], screen: KnownScreen, instant: number): Expected {
  const { date, hour } = wallClock(instant, screen.timezone);
  const here = campaigns.flatMap((campaign) => {
    const { start_date, end_date } = campaign;
    if (!campaign.reaches(screen)) return [];
    if ((start_date !== null && date < start_date) || (end_date !== null && date > end_date)) return [];
    const ads = campaign.ads.filter(({ screen_tag }) => screen.tags.includes(screen_tag));
    return ads.length > 0 ? [{ campaign, ads }] : [];
  });
  const isHeldOut = ({ id, holdout_percent }: LiveCampaign) =>
    bucketOf(`${id}|${screen.location}|${date}|${hour}`) < holdout_percent;
  const free = here.filter(({ campaign }) => !isHeldOut(campaign));
  const highest = Math.max(...free.map(({ campaign }) => campaign.priority));
  const turns = free
    .filter(({ campaign }) => campaign.priority === highest)
    .flatMap(({ campaign: { published_at, id }, ads }) =>
      ads.map((ad) => [published_at, id, String(ad.position).padStart(4, '0'), ad.id] as const),
    );
  return {
    plays: turns.toSorted((one, other) => (one.join() < other.join() ? -1 : 1)).map(([, , , ad]) => ad),
    heldOut: here.flatMap(({ campaign }) => (isHeldOut(campaign) ? [campaign.id] : [])).toSorted(),
  };
}
