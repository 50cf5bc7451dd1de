import type { ManifestContent } from '@attribution/contracts';
import type { z } from 'zod';
import type { Facts, PlayingCampaign, WiredScreen } from './facts.ts';
import { isHeldOut } from './holdout.ts';
import { coveredTime, endOfDay, type LocalHour, localHours, startOfDay } from './local-time.ts';
import { byText, byTurn, isInDates, type Play, playlist } from './playlist.ts';
import { runsOf } from './runs.ts';

/** What the hash is over: a manifest without version, hash, covered time and the addresses of files. */
export type Content = z.output<typeof ManifestContent>;

/** The content of a manifest at `now` (milliseconds since the epoch), and the time that it covers. */
export interface BuiltManifest {
  readonly content: Content;
  readonly covers_from: number;
  readonly covers_to: number;
  /** When time alone may change the content next; null: never. */
  readonly changes_at: number | null;
}

/** The days of a device without a place. */
const nowhere = 'UTC';

export function buildManifest(facts: Facts, now: number): BuiltManifest {
  const { device_id, place } = facts;
  const timeZone = place?.timezone ?? nowhere;
  const covered = coveredTime(now, timeZone);
  const { from, to } = covered;
  const timetable = place ? timetableOf(facts, place, localHours(from, to, timeZone)) : { screens: [], holdouts: [] };
  const played = new Set(timetable.screens.flatMap(({ slots }) => slots.flatMap((slot) => slot.campaign_ad_ids)));
  const plays = playsOf(facts).filter(({ ad }) => played.has(ad.campaign_ad_id));
  return {
    content: {
      schema_version: 1,
      device_id,
      location_id: place?.location_id ?? null,
      timezone: place?.timezone ?? null,
      files: filesOf(plays),
      items: itemsOf(plays, timeZone),
      ...timetable,
    },
    covers_from: from,
    covers_to: to,
    changes_at: nextChange(facts, timeZone, covered),
  };
}

/** More than the longest covered time. */
const farAheadMs = 5 * 86_400_000;

/**
 * When time alone may change the content next. It does not while nothing begins, ends or is held out in the covered time,
 * and only later days could bring that.
 */
function nextChange({ campaigns }: Facts, timeZone: string, { from, to, until }: ReturnType<typeof coveredTime>) {
  const edges = campaigns.flatMap(({ start_date, end_date }) => [
    ...(start_date === null ? [] : [startOfDay(start_date, timeZone)]),
    ...(end_date === null ? [] : [endOfDay(end_date, timeZone)]),
  ]);
  const mayBeHeldOut = ({ start_date, end_date, holdout_percent }: PlayingCampaign) =>
    holdout_percent > 0 &&
    (start_date === null || startOfDay(start_date, timeZone) <= to) &&
    (end_date === null || endOfDay(end_date, timeZone) >= from);
  if (edges.some((edge) => from <= edge && edge <= to) || campaigns.some(mayBeHeldOut)) return until;
  const next = Math.min(...edges.filter((edge) => edge > to));
  return Number.isFinite(next) ? Math.max(until, next - farAheadMs) : null;
}

type Timetable = Pick<Content, 'screens' | 'holdouts'>;

function timetableOf(facts: Facts, place: NonNullable<Facts['place']>, hours: readonly LocalHour[]): Timetable {
  const plays = new Map(playsOf(facts).map((play) => [play.ad.campaign_ad_id, play]));
  const placed = new Set(facts.screens.flatMap(({ campaign_ad_ids }) => campaign_ad_ids.map((id) => plays.get(id))));
  const campaigns = [...new Set([...placed].flatMap((play) => play?.campaign ?? []))];
  const states = new Map(campaigns.map((campaign) => [campaign, hours.map((hour) => stateIn(campaign, place, hour))]));

  const slotsOf = ({ campaign_ad_ids }: WiredScreen) => {
    const onScreen = campaign_ad_ids.flatMap((id) => plays.get(id) ?? []).toSorted(byTurn);
    const listAt = (index: number) =>
      playlist(onScreen, (campaign) => states.get(campaign)?.[index] === 'on').map(({ ad }) => ad.campaign_ad_id);
    return runsOf(hours, listAt, (list) => list.join())
      .filter(({ value }) => value.length > 0)
      .map(({ value, start, end, goesOn }) => ({
        start_at: start === hours[0]?.start ? null : iso(start),
        end_at: goesOn ? null : iso(end),
        campaign_ad_ids: value,
      }));
  };
  const holdoutsOf = (campaign: PlayingCampaign) =>
    runsOf(hours, (index) => states.get(campaign)?.[index], String)
      .filter(({ value }) => value === 'held out')
      .map(({ start, end }) => ({
        ...{ campaign_id: campaign.id, version: campaign.version, start_at: iso(start), end_at: iso(end) },
      }));

  return {
    screens: facts.screens
      .map((screen) => ({
        screen_id: screen.screen_id,
        output: screen.output,
        width_px: screen.width_px,
        height_px: screen.height_px,
        slots: slotsOf(screen),
      }))
      .toSorted((one, other) => byText(one.screen_id, other.screen_id)),
    holdouts: campaigns.toSorted((one, other) => byText(one.id, other.id)).flatMap(holdoutsOf),
  };
}

type State = 'off' | 'held out' | 'on';

function stateIn(campaign: PlayingCampaign, { location_id }: { readonly location_id: string }, hour: LocalHour): State {
  if (!isInDates(campaign, hour.date)) return 'off';
  return isHeldOut(campaign, location_id, hour) ? 'held out' : 'on';
}

/** The ads with their campaigns. */
function playsOf({ ads, campaigns }: Facts): readonly Play[] {
  const byId = new Map(campaigns.map((campaign) => [campaign.id, campaign]));
  return ads.flatMap((ad) => {
    const campaign = byId.get(ad.campaign_id);
    return campaign ? [{ ad, campaign }] : [];
  });
}

function filesOf(plays: readonly Play[]): Content['files'] {
  const files = new Map(plays.map(({ ad: { sha256, size_bytes, mime } }) => [sha256, { sha256, size_bytes, mime }]));
  return [...files.values()].toSorted((one, other) => byText(one.sha256, other.sha256));
}

const itemsOf = (plays: readonly Play[], timeZone: string): Content['items'] =>
  plays
    .map(({ ad, campaign }) => ({
      campaign_ad_id: ad.campaign_ad_id,
      campaign_id: campaign.id,
      version: campaign.version,
      ad_id: ad.ad_id,
      sha256: ad.sha256,
      duration_ms: ad.duration_ms,
      fit: ad.fit,
      muted: ad.muted,
      not_before: campaign.start_date === null ? null : iso(startOfDay(campaign.start_date, timeZone)),
      not_after: campaign.end_date === null ? null : iso(endOfDay(campaign.end_date, timeZone)),
    }))
    .toSorted((one, other) => byText(one.campaign_ad_id, other.campaign_ad_id));

const iso = (instant: number) => new Date(instant).toISOString();
