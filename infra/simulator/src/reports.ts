import { randomUUIDv7 } from 'node:crypto';
import type { BatchAnswer, DeviceClient } from './client.ts';
import type { Visit } from './crowd.ts';
import type { Play } from './player.ts';

/** How many items were answered, and how many of them were refused for good. */
export interface Sent {
  readonly plays: number;
  readonly visits: number;
  readonly rejected: number;
}

/** What a device has played and seen, until it was taken over. */
export interface Reports {
  addPlay(play: Play, holdout?: boolean): void;
  addVisit(visit: Visit, locationId: string): void;
  /** Sends a batch of each kind. What is not answered stays, with its ids, and is sent again. */
  send(client: Pick<DeviceClient, 'plays' | 'visits'>): Promise<Sent>;
}

/** Items of one batch. */
const batchSize = 500;
/** A device that is offline forgets the oldest beyond. */
const mostKept = 20_000;

const iso = (instant: number) => new Date(instant).toISOString();

export function createReports(): Reports {
  const [plays, visits]: [object[], object[]] = [[], []];

  function keep(items: object[], item: object): void {
    // The id is made once, so that an item that is sent twice counts once.
    items.push({ event_id: randomUUIDv7(), ...item });
    if (items.length > mostKept) items.splice(0, items.length - mostKept);
  }

  async function sendBatch(items: object[], send: (batch: readonly object[]) => Promise<BatchAnswer>) {
    const batch = items.slice(0, batchSize);
    if (batch.length === 0) return { count: 0, refused: 0 };
    const { rejected } = await send(batch);
    const sent = new Set(batch);
    items.splice(0, items.length, ...items.filter((item) => !sent.has(item)));
    return { count: batch.length, refused: rejected.length };
  }

  return {
    addPlay({ started_at, ended_at, ...play }, holdout = false) {
      keep(plays, { ...play, holdout, started_at: iso(started_at), ended_at: iso(ended_at) });
    },
    addVisit({ visitor_key, entered_at, left_at, stays }, location_id) {
      const zones = stays.map((stay) => ({
        zone_id: stay.zone_id,
        entered_at: iso(stay.entered_at),
        left_at: iso(stay.left_at),
      }));
      keep(visits, { visitor_key, location_id, entered_at: iso(entered_at), left_at: iso(left_at), zones });
    },
    async send(client) {
      const played = await sendBatch(plays, client.plays);
      const seen = await sendBatch(visits, client.visits);
      return { plays: played.count, visits: seen.count, rejected: played.refused + seen.refused };
    },
  };
}
