import { createHash } from 'node:crypto';

/** Somebody who was in sight of the camera. Instants in milliseconds since the epoch. */
export interface Visit {
  readonly visitor_key: string;
  readonly entered_at: number;
  readonly left_at: number;
  /** Within the visit, in one zone after the other. */
  readonly stays: readonly { readonly zone_id: string; readonly entered_at: number; readonly left_at: number }[];
}

export interface Crowd {
  /** The visits that ended by an instant and were not returned before. */
  visitsUntil(to: number): Visit[];
}

export interface CrowdOptions {
  /** The same seed has the same people. */
  readonly seed: string;
  /** The first visit begins after this instant. */
  readonly from: number;
  readonly zoneIds: readonly string[];
}

/** How many people live nearby: each comes back now and then. */
const people = 300;
const meanPauseMs = 20_000;
const stayMs = { least: 15_000, most: 180_000 };

/** Reproducible choices: the n-th number of a seed, from 0 to below 1. */
const shares = (seed: string) => {
  let n = 0;
  return () => createHash('sha256').update(`${seed} ${n++}`).digest().readUIntBE(0, 6) / 2 ** 48;
};

/** Who comes by a camera. It knows no clock, like a player. */
export function createCrowd({ seed, from, zoneIds }: CrowdOptions): Crowd {
  const share = shares(`${seed} ${from}`);
  const keyOf = (person: number) =>
    createHash('sha256').update(`${seed} person ${person}`).digest('base64url').slice(0, 22);
  const pause = () => Math.ceil(-Math.log(1 - share()) * meanPauseMs);
  let present: Visit[] = [];
  let nextArrival = Math.round(from) + pause();

  function arrive(entered_at: number): Visit {
    const left_at = Math.round(entered_at + stayMs.least + share() ** 2 * (stayMs.most - stayMs.least));
    const length = (left_at - entered_at) / zoneIds.length;
    const stays = zoneIds.map((zone_id, at) => ({
      zone_id,
      entered_at: Math.round(entered_at + at * length),
      left_at: Math.round(entered_at + (at + 1) * length),
    }));
    return { visitor_key: keyOf(Math.floor(share() * people)), entered_at, left_at, stays };
  }

  return {
    visitsUntil(to) {
      for (; nextArrival <= to; nextArrival += pause()) present.push(arrive(nextArrival));
      const ended = present.filter(({ left_at }) => left_at <= to);
      present = present.filter(({ left_at }) => left_at > to);
      return ended;
    },
  };
}
