import { setTimeout as sleep } from 'node:timers/promises';
import { Refused } from '@attribution/simulator';
import type { Chance } from '@attribution/testing';
import type { Batch } from './items.ts';

/** What the devices know of what they have sent. */
export interface Sent {
  /** Batches that were answered 202. */
  batches: number;
  /** Batches that were sent again though they had been answered, wholly or together with others. */
  repeated: number;
  /** Attempts that failed, by what the device saw. */
  readonly failures: Map<string, number>;
  /** Ids of items that were answered 202. */
  readonly acknowledged: { readonly visits: Set<string>; readonly plays: Set<string> };
  /** Answers that no right item explains. */
  readonly wrong: string[];
}

export const nothingSent = (): Sent => ({
  ...{ batches: 0, repeated: 0, failures: new Map(), wrong: [] },
  acknowledged: { visits: new Set(), plays: new Set() },
});

/** Devices that send at once. */
const lanes = 16;
const pauseMs = 200;
/** A device is not without an answer for longer, whatever is broken for some seconds. */
const patienceMs = 180_000;

/** The devices send these batches, each until it is answered, and some of them again afterwards. */
export async function sendAll(batches: readonly Batch[], sent: Sent, chance: Chance): Promise<void> {
  const turns = batches.values();
  const answered: Batch[] = [];
  const lane = async () => {
    for (const batch of turns) {
      await sendUntilAnswered(batch, sent);
      sent.batches++;
      answered.push(batch);
      if (chance.int(1, 4) > 1) continue;
      sent.repeated++;
      await sendUntilAnswered(recut(batch, answered, chance), sent);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

/** A batch again, with the half of another of the same device, where there is one. */
function recut(batch: Batch, answered: readonly Batch[], chance: Chance): Batch {
  const others = answered.filter((one) => one.device === batch.device && one.kind === batch.kind && one !== batch);
  if (others.length === 0) return batch;
  const other = chance.pick(others);
  const half = Math.ceil(other.items.length / 2);
  return {
    ...batch,
    ids: [...batch.ids, ...other.ids.slice(0, half)],
    items: [...batch.items, ...other.items.slice(0, half)],
  };
}

async function sendUntilAnswered({ device, kind, ids, items }: Batch, sent: Sent): Promise<void> {
  for (const deadline = Date.now() + patienceMs; ; await sleep(pauseMs)) {
    try {
      const { accepted, duplicates, rejected } = await device[kind](items);
      if (rejected.length > 0) sent.wrong.push(`${kind}: ${rejected.length} rejected, as ${rejected[0]?.detail}`);
      if (accepted + duplicates + rejected.length !== items.length)
        sent.wrong.push(`${kind}: ${accepted} + ${duplicates} + ${rejected.length} of ${items.length}`);
      const known = sent.acknowledged[kind];
      for (const id of ids) known.add(id);
      return;
    } catch (error) {
      const what = error instanceof Refused ? String(error.status) : 'no answer';
      // A right batch may find the platform away, and nothing else.
      if (error instanceof Refused && error.status < 500) sent.wrong.push(error.message);
      sent.failures.set(what, (sent.failures.get(what) ?? 0) + 1);
      if (Date.now() > deadline) throw error;
    }
  }
}
