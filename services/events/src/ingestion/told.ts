import { playsAccepted, visitsAccepted } from '@attribution/contracts';
import { type NewEvent, newEvent } from '@attribution/messaging';
import type { Receipt } from './item.store.ts';
import type { Counted } from './items.ts';
import type { PlayRow } from './plays.ts';
import { isoOf, type Kept } from './sort-batch.ts';
import type { VisitRow } from './visits.ts';

/** Of the items in one event: a broker takes 1 MiB, and the relay holds some hundreds of events at a time. */
const mostBytes = 64 * 1024;

/** Bytes that an item takes as JSON, at most. */
const sizes = { play: 450, visit: 250, stay: 150 };

/** The items of each location, in as few parts as their sizes allow. */
function partsOf<Row extends { readonly location_id: string }>(
  items: readonly Kept<Row, Counted>[],
  sizeOf: (row: Row) => number,
) {
  const byLocation = Map.groupBy(items, ({ row }) => row.location_id);
  return [...byLocation].flatMap(([location_id, all]) => {
    const parts: { location_id: string; part: Kept<Row, Counted>[] }[] = [];
    let left = 0;
    for (const item of all) {
      const size = sizeOf(item.row);
      const last = parts.at(-1);
      if (last && size <= left) last.part.push(item);
      else parts.push({ location_id, part: [item] });
      left = (last && size <= left ? left : mostBytes) - size;
    }
    return parts;
  });
}

const headOf = ({ device, receivedAt, offset }: Receipt) => ({
  account_id: device.accountId,
  device_id: device.id,
  received_at: receivedAt.toISOString(),
  clock_offset_ms: offset,
});

const contextOf = ({ device, receivedAt }: Receipt) => ({ accountId: device.accountId, occurredAt: receivedAt });

export const visitsTold = (items: readonly Kept<VisitRow, Counted>[], receipt: Receipt): NewEvent[] =>
  partsOf(items, ({ zones }) => sizes.visit + zones.length * sizes.stay).map(({ location_id, part }) => {
    const visits = part.map(({ row: { event_id, visitor_key, start, end, zones } }) => ({
      ...{ event_id, visitor_key },
      entered_at: start,
      left_at: end,
      zones: zones.map(({ zone_id, start, end }) => ({ zone_id, entered_at: isoOf(start), left_at: isoOf(end) })),
    }));
    return newEvent(visitsAccepted, { ...headOf(receipt), location_id, visits }, contextOf(receipt));
  });

export const playsTold = (items: readonly Kept<PlayRow, Counted>[], receipt: Receipt): NewEvent[] =>
  partsOf(items, () => sizes.play).map(({ location_id, part }) => {
    const plays = part.map(({ row }) => ({
      event_id: row.event_id,
      ...{ screen_id: row.screen_id, zone_id: row.zone_id, campaign_id: row.campaign_id },
      ...{ campaign_ad_id: row.campaign_ad_id, version: row.version },
      ...{ completed: row.completed, holdout: row.holdout },
      started_at: row.start,
      ended_at: row.end,
    }));
    return newEvent(playsAccepted, { ...headOf(receipt), location_id, plays }, contextOf(receipt));
  });
