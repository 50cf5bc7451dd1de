import type { LocalTime } from '../time/index.ts';

interface PlayOfScreen {
  readonly campaign: string;
  readonly screen: string;
  readonly version: number;
  readonly held: boolean;
  readonly completed: boolean;
  readonly start: number;
  readonly end: number;
}

/** The plays of a campaign on a screen that began within an hour by the local clock. */
export interface PlayHour {
  readonly campaign: string;
  readonly screen: string;
  readonly date: string;
  readonly hour: number;
  /** Real plays; so are the next two. */
  plays: number;
  completedPlays: number;
  playMs: number;
  heldPlays: number;
  /** The highest version among all of them, held ones too. */
  version: number;
}

/** Counts the plays of a location. */
export function playHoursOf(plays: readonly PlayOfScreen[], localTime: LocalTime): readonly PlayHour[] {
  const hours = new Map<string, PlayHour>();
  for (const { campaign, screen, version, held, completed, start, end } of plays) {
    const { date, hour } = localTime(start);
    const key = `${campaign} ${screen} ${date} ${hour}`;
    const counted = hours.get(key) ?? {
      ...{ campaign, screen, date, hour },
      ...{ plays: 0, completedPlays: 0, playMs: 0, heldPlays: 0, version },
    };
    hours.set(key, counted);
    counted.version = Math.max(counted.version, version);
    if (held) counted.heldPlays++;
    else {
      counted.plays++;
      if (completed) counted.completedPlays++;
      counted.playMs += end - start;
    }
  }
  return [...hours.values()];
}
