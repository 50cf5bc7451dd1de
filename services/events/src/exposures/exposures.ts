import type { LocalTime } from '../time/index.ts';
import { type Dwell, overlapsOf, type Play } from './sweep.ts';

/** A visit that met a real play of a campaign. */
export interface Exposure {
  readonly visit: string;
  readonly campaign: string;
  /** The earliest instant of all. */
  readonly first: number;
  /** The local day of it. */
  readonly date: string;
  readonly hour: number;
  /** Length of the union of all overlaps, in milliseconds. */
  exposureMs: number;
}

/** What a visit met of a campaign, real or held, within an hour by the local clock. */
export interface Meeting {
  readonly visit: string;
  readonly campaign: string;
  readonly held: boolean;
  readonly date: string;
  readonly hour: number;
  /** The earliest instant of an overlap in the hour. */
  readonly first: number;
  /** Pairs of the visit and a play whose earliest instant is in the hour. */
  pairs: number;
}

/** What the visits of a location met there, all campaigns at once. */
export function exposuresOf(
  dwells: readonly Dwell[],
  plays: readonly Play[],
  localTime: LocalTime,
): { readonly exposures: readonly Exposure[]; readonly meetings: readonly Meeting[] } {
  const exposures = new Map<string, Exposure>();
  const meetings = new Map<string, Meeting>();
  /** Until when the union reaches, by visit and campaign. */
  const covered = new Map<string, number>();

  // Overlaps come in the order of their starts, so the first of each kind is the earliest.
  for (const { visit, play, start, end, first } of overlapsOf(dwells, plays)) {
    const { campaign, held } = play;
    const { date, hour } = localTime(start);
    const hourly = `${visit} ${campaign} ${held} ${date} ${hour}`;
    const meeting = meetings.get(hourly) ?? { visit, campaign, held, date, hour, first: start, pairs: 0 };
    meetings.set(hourly, meeting);
    if (first) meeting.pairs++;
    if (held) continue;

    const key = `${visit} ${campaign}`;
    const exposure = exposures.get(key) ?? { visit, campaign, first: start, date, hour, exposureMs: 0 };
    exposures.set(key, exposure);
    const until = covered.get(key) ?? start;
    exposure.exposureMs += Math.max(0, end - Math.max(start, until));
    covered.set(key, Math.max(until, end));
  }
  return { exposures: [...exposures.values()], meetings: [...meetings.values()] };
}
