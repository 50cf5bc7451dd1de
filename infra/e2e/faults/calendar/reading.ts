import type { Manifest, Play } from '@attribution/simulator';

/**
 * A second, plain reading of manifests. It knows nothing of the player of `@attribution/simulator`: it looks at every tick
 * what the manifest says about this instant, and at what was on a tick before.
 */

/** Every instant at which something can change is a whole number of ticks, in milliseconds. */
export const tickMs = 15_000;

/** A manifest for looking up, with its instants as numbers. */
interface Plan {
  readonly slots: readonly { readonly from: number; readonly to: number; readonly ads: readonly string[] }[];
  readonly items: ReadonlyMap<string, Item>;
}

interface Item {
  readonly version: number;
  readonly lengthMs: number;
  readonly from: number;
  readonly to: number;
}

interface On {
  readonly ad: string;
  readonly since: number;
  readonly item: Item;
}

const number = (instant: string | null, otherwise: number) => (instant === null ? otherwise : Date.parse(instant));

function planOf(manifest: Manifest, screenId: string): Plan {
  const screen = manifest.screens.find(({ screen_id }) => screen_id === screenId);
  return {
    slots: (screen?.slots ?? []).map(({ start_at, end_at, campaign_ad_ids }) => ({
      from: number(start_at, Number.NEGATIVE_INFINITY),
      to: number(end_at, Number.POSITIVE_INFINITY),
      ads: campaign_ad_ids,
    })),
    items: new Map(
      manifest.items.map(({ campaign_ad_id, version, duration_ms, not_before, not_after }) => [
        campaign_ad_id,
        {
          version,
          lengthMs: duration_ms,
          from: number(not_before, Number.NEGATIVE_INFINITY),
          to: number(not_after, Number.POSITIVE_INFINITY),
        },
      ]),
    ),
  };
}

export interface Reading {
  /** Reads on until an instant, before which this manifest was in force, and returns what ended. */
  until(to: number, manifest: Manifest): Play[];
}

/** Of one screen, from an instant on. */
export function readScreen(screen_id: string, from: number): Reading {
  let now = from;
  let on: On | undefined;
  /** The list whose round goes on, and how far it has come. */
  let round: { readonly list: string; readonly place: number } | undefined;

  /** What was on leaves the screen, and is logged. */
  function end({ ad, since, item }: On): Play {
    on = undefined;
    const completed = now - since >= item.lengthMs;
    return { screen_id, campaign_ad_id: ad, version: item.version, started_at: since, ended_at: now, completed };
  }

  function tick({ slots, items }: Plan): Play | undefined {
    const slot = slots.find(({ from: start, to: stop }) => start <= now && now < stop);
    let left: Play | undefined;
    if (on) {
      const { ad, since, item } = on;
      const isOver = now === since + item.lengthMs;
      const isMeant = slot !== undefined && slot.from !== now && slot.ads.includes(ad);
      const current = items.get(ad);
      if (isOver || !isMeant || current?.version !== item.version || current.to <= now) left = end(on);
    }
    if (!slot) round = undefined; // After a gap a list begins anew.
    if (on || !slot) return left;
    const list = slot.ads.join(' ');
    const next = round?.list === list ? round.place + 1 : 0;
    for (let step = 0; step < slot.ads.length && !on; step++) {
      const place = (next + step) % slot.ads.length;
      const ad = slot.ads[place] as string;
      const item = items.get(ad);
      if (!item || now < item.from || item.to <= now) continue;
      on = { ad, since: now, item };
      round = { list, place };
    }
    return left;
  }

  return {
    until(to, manifest) {
      const plan = planOf(manifest, screen_id);
      const plays: Play[] = [];
      for (; now < to; now += tickMs) {
        const left = tick(plan);
        if (left) plays.push(left);
      }
      return plays;
    },
  };
}

/** Compares two logs of a screen, of which each may be a play ahead of the other. */
export function createComparison() {
  let [shown, read]: [Play[], Play[]] = [[], []];
  return {
    /** Returns how many plays were compared, and those that differ. */
    compare(more: { readonly shown: readonly Play[]; readonly read: readonly Play[] }) {
      shown.push(...more.shown);
      read.push(...more.read);
      const count = Math.min(shown.length, read.length);
      const differ = shown.slice(0, count).flatMap((play, at) => {
        const other = read[at] as Play;
        return isSame(play, other) ? [] : [{ shown: play, read: other }];
      });
      [shown, read] = [shown.slice(count), read.slice(count)];
      return { count, differ };
    },
    /** Plays that the other has not. A log that is more than one ahead has too many. */
    get rest() {
      return Math.max(0, shown.length - 1) + Math.max(0, read.length - 1);
    },
  };
}

const isSame = (one: Play, other: Play) =>
  one.screen_id === other.screen_id &&
  one.campaign_ad_id === other.campaign_ad_id &&
  one.version === other.version &&
  one.started_at === other.started_at &&
  one.ended_at === other.ended_at &&
  one.completed === other.completed;
