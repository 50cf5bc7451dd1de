/** Intervals are half-open, in milliseconds since the epoch, and not empty. */
interface Interval {
  readonly start: number;
  readonly end: number;
}

/** A visit in a zone. Those of one visit in one zone do not overlap each other. */
export interface Dwell extends Interval {
  readonly visit: string;
  readonly zone: string;
}

export interface Play extends Interval {
  readonly campaign: string;
  /** Null: the screen was in no zone, so that nobody was there. */
  readonly zone: string | null;
  /** Whether the campaign was left out of the slot. */
  readonly held: boolean;
}

/** Somebody was in a zone while a play was on. */
export interface Overlap<P extends Play = Play> extends Interval {
  readonly visit: string;
  readonly play: P;
  /** Whether no dwell of the visit met this play before. */
  readonly first: boolean;
}

interface Presence extends Dwell {
  /** When the visit left the zone before; a play from then on has not met the visit yet. */
  readonly leftBefore: number;
}

/** What goes on in a zone. */
class Scene<P> {
  dwells: Presence[] = [];
  plays: (P & Interval)[] = [];

  dropEnded(now: number): void {
    this.dwells = this.dwells.filter(({ end }) => end > now);
    this.plays = this.plays.filter(({ end }) => end > now);
  }
}

const byStart = (a: Interval, b: Interval) => a.start - b.start;

function presences(dwells: readonly Dwell[]): Presence[] {
  const left = new Map<string, number>();
  return dwells.toSorted(byStart).map((dwell) => {
    const key = `${dwell.visit} ${dwell.zone}`;
    const leftBefore = left.get(key) ?? Number.NEGATIVE_INFINITY;
    left.set(key, dwell.end);
    return { ...dwell, leftBefore };
  });
}

/** Every overlap of a dwell and a play in the same zone, in the order of their starts. */
export function* overlapsOf<P extends Play>(dwells: readonly Dwell[], plays: readonly P[]): Generator<Overlap<P>> {
  const [entering, beginning] = [presences(dwells), plays.toSorted(byStart)];
  const scenes = new Map<string, Scene<P>>();
  const sceneOf = (zone: string, now: number): Scene<P> => {
    let scene = scenes.get(zone);
    if (!scene) {
      scene = new Scene();
      scenes.set(zone, scene);
    }
    scene.dropEnded(now);
    return scene;
  };
  const meeting = (dwell: Presence, play: P, start: number): Overlap<P> => ({
    ...{ visit: dwell.visit, play, start },
    end: Math.min(dwell.end, play.end),
    first: play.start >= dwell.leftBefore,
  });

  for (let d = 0, p = 0; d < entering.length || p < beginning.length; ) {
    const [dwell, play] = [entering[d], beginning[p]];
    if (dwell && (!play || dwell.start <= play.start)) {
      d++;
      const scene = sceneOf(dwell.zone, dwell.start);
      for (const seen of scene.plays) yield meeting(dwell, seen, dwell.start);
      scene.dwells.push(dwell);
    } else if (play) {
      p++;
      if (play.zone === null) continue;
      const scene = sceneOf(play.zone, play.start);
      for (const present of scene.dwells) yield meeting(present, play, play.start);
      scene.plays.push(play);
    }
  }
}
