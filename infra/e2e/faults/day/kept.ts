import { setTimeout as sleep } from 'node:timers/promises';
import { type Databases, rowsOf } from '../crash/check/databases.ts';
import { type Quiet, untilQuiet } from '../crash/check/quiet.ts';
import { readTopics } from '../crash/check/topics.ts';
import type { SeparateWorld } from '../separate/world.ts';
import type { Sent } from './sending.ts';

const quietTimeoutMs = 180_000;

/** Resolves when every hour has been recounted, or after a while, with how many have not. */
export async function untilCounted({ events = '' }: Databases): Promise<number> {
  for (const deadline = Date.now() + quietTimeoutMs; ; await sleep(250)) {
    const [row] = await rowsOf<{ behind: number }>(events, 'SELECT count(*)::int AS behind FROM dirty_hours');
    const behind = row?.behind ?? 0;
    if (behind === 0 || Date.now() > deadline) return behind;
  }
}

/** The same, and until every event has been handled. */
export async function untilRecounted({ databases }: SeparateWorld): Promise<Quiet & { readonly behind: number }> {
  const quiet = await untilQuiet(databases, quietTimeoutMs);
  return { ...quiet, behind: await untilCounted(databases) };
}

/** What is wrong with where the items that were acknowledged are: those that are not there, and those that are there again. */
interface Kept {
  readonly lost: number;
  readonly doubled: number;
}

const kinds = ['visits', 'plays'] as const;
type Kind = (typeof kinds)[number];

const sumOf = (all: readonly Kept[]): Kept => ({
  lost: all.reduce((sum, { lost }) => sum + lost, 0),
  doubled: all.reduce((sum, { doubled }) => sum + doubled, 0),
});

function compare(ids: readonly string[], acknowledged: ReadonlySet<string>): Kept {
  const distinct = new Set(ids);
  return {
    lost: acknowledged.difference(distinct).size,
    doubled: ids.length - distinct.size + distinct.difference(acknowledged).size,
  };
}

/** The rows of items. */
export async function countRows({ events = '' }: Databases, sent: Sent): Promise<Kept> {
  const all = kinds.map(async (kind) => {
    const rows = await rowsOf<{ event_id: string }>(events, `SELECT event_id FROM ${kind} WHERE quarantined IS NULL`);
    return compare(
      rows.map(({ event_id }) => event_id),
      sent.acknowledged[kind],
    );
  });
  return sumOf(await Promise.all(all));
}

interface ItemsEvent {
  readonly data: Partial<Record<Kind, readonly { readonly event_id: string }[]>>;
}

/** The events of items on the topics, which may be there again under the same id, and the items in them. */
export async function countEvents({ databases, servers, topicPrefix }: SeparateWorld, sent: Sent) {
  const told = await rowsOf<{ event_id: string }>(
    databases.events ?? '',
    `SELECT row ->> 'event_id' AS event_id FROM audit.notes
     WHERE relation = 'outbox' AND row ->> 'type' IN ('visits.accepted', 'plays.accepted')`,
  );
  const published = await readTopics(servers.kafka.brokers, topicPrefix);
  const ofItems = published.filter(({ topic }) => topic === 'events.visits' || topic === 'events.plays');
  const onTopics = new Map(ofItems.map(({ eventId, value }) => [eventId, JSON.parse(`${value}`) as ItemsEvent]));
  const idsOf = (kind: Kind) =>
    [...onTopics.values()].flatMap(({ data }) => (data[kind] ?? []).map((one) => one.event_id));
  const events = new Set(told.map(({ event_id }) => event_id));
  const kept = [
    ...kinds.map((kind) => compare(idsOf(kind), sent.acknowledged[kind])),
    compare([...onTopics.keys()], events),
  ];
  return { ...sumOf(kept), events: events.size };
}
