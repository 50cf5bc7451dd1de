import { playsAccepted, visitsAccepted } from '@attribution/contracts';
import { byReference, type NewEvent, type Reference } from '@attribution/messaging';
import type { Receipt } from './item.store.ts';
import type { Counted } from './items.ts';
import type { PlayRow } from './plays.ts';
import type { Kept } from './sort-batch.ts';
import { findPlays, findVisits, type OwnIds } from './told.store.ts';
import type { VisitRow } from './visits.ts';

/** Of the items in one event: a broker takes 1 MiB, and the relay holds some hundreds of events at a time. */
const mostBytes = 64 * 1024;

/** Bytes that an item takes as JSON, at most. */
const sizes = { play: 450, visit: 250, stay: 150 };

/** Accepted items of a location. The outbox keeps their ids, and the relay reads the rest, which never changes. */
interface Items {
  readonly [field: string]: unknown;
  readonly account_id: string;
  readonly location_id: string;
  readonly device_id: string;
  readonly received_at: string;
  readonly clock_offset_ms: number;
  readonly event_ids: readonly string[];
}
type References = readonly Reference<Items>[];

const idsByAccount = (references: References): OwnIds[] =>
  [...Map.groupBy(references, ({ account_id }) => account_id)].map(([accountId, own]) => ({
    accountId,
    ids: own.flatMap(({ data }) => data.event_ids),
  }));

/** Each reference's fields, and its items in their order. */
function completed<Item extends { readonly event_id: string }>(references: References, items: readonly Item[]) {
  const byId = new Map(items.map((item) => [item.event_id, item]));
  return references.map(({ data: { event_ids, ...head } }) => ({
    head,
    items: event_ids.flatMap((id) => byId.get(id) ?? []),
  }));
}

const visitsReference = byReference(visitsAccepted, async (connection, references: References) => {
  const rows = await findVisits(connection, idsByAccount(references));
  const time = (instant: number | Date) => new Date(instant).toISOString();
  return completed(references, rows).map(({ head, items }) => ({
    ...head,
    visits: items.map(({ entered_at, left_at, zones, ...visit }) => ({
      ...{ ...visit, entered_at: time(entered_at), left_at: time(left_at) },
      zones: zones.map(({ zone_id, start, end }) => ({ zone_id, entered_at: time(start), left_at: time(end) })),
    })),
  }));
});

const playsReference = byReference(playsAccepted, async (connection, references: References) => {
  const rows = await findPlays(connection, idsByAccount(references));
  return completed(references, rows).map(({ head, items }) => ({
    ...head,
    plays: items.map(({ started_at, ended_at, ...play }) => ({
      ...{ ...play, started_at: started_at.toISOString(), ended_at: ended_at.toISOString() },
    })),
  }));
});

/** How the relay completes the events of accepted items. */
export const completions = [visitsReference, playsReference];

/** The items of each location, in as few parts as their sizes allow. */
function partsOf<Row extends { readonly location_id: string; readonly event_id: string }>(
  items: readonly Kept<Row, Counted>[],
  sizeOf: (row: Row) => number,
) {
  const byLocation = Map.groupBy(items, ({ row }) => row.location_id);
  return [...byLocation].flatMap(([location_id, all]) => {
    const parts: { location_id: string; event_ids: string[] }[] = [];
    let left = 0;
    for (const { row } of all) {
      const size = sizeOf(row);
      const last = parts.at(-1);
      if (last && size <= left) last.event_ids.push(row.event_id);
      else parts.push({ location_id, event_ids: [row.event_id] });
      left = (last && size <= left ? left : mostBytes) - size;
    }
    return parts;
  });
}

const referTo =
  <Row extends { readonly location_id: string; readonly event_id: string }>(
    { refer }: typeof visitsReference,
    sizeOf: (row: Row) => number,
  ) =>
  (items: readonly Kept<Row, Counted>[], { device, receivedAt, offset }: Receipt): NewEvent[] => {
    const { accountId, id: device_id } = device;
    const head = { account_id: accountId, device_id, received_at: receivedAt.toISOString(), clock_offset_ms: offset };
    const context = { accountId, occurredAt: receivedAt };
    return partsOf(items, sizeOf).map((part) => refer({ ...head, ...part }, context));
  };

export const visitsTold = referTo<VisitRow>(visitsReference, ({ zones }) => sizes.visit + zones.length * sizes.stay);
export const playsTold = referTo<PlayRow>(playsReference, () => sizes.play);
