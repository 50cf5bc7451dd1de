import { NewVisit } from '@attribution/contracts';
import type { z } from 'zod';
import { hoursOf } from '../dirty/index.ts';
import { type AskEstate, findLocationsOf, findZones } from '../estate/index.ts';
import type { EventsDatabase } from '../store.ts';
import type { ItemKind, ItemRow } from './items.ts';

type Visit = z.output<typeof NewVisit>;

export interface VisitRow extends ItemRow {
  readonly visitor_key: string;
  /** By the platform's clock, in milliseconds since the epoch. */
  readonly zones: readonly { readonly zone_id: string; readonly start: number; readonly end: number }[];
}

interface KnownPlaces {
  /** Where the device is, or once was. */
  readonly locations: ReadonlySet<string>;
  /** The location of each zone. */
  readonly zones: ReadonlyMap<string, string>;
}

const zoneIdsOf = (items: readonly Visit[]) => [
  ...new Set(items.flatMap(({ zones }) => zones.map(({ zone_id }) => zone_id))),
];

function faultOf({ location_id, zones }: Visit, known: KnownPlaces): string | undefined {
  if (!known.locations.has(location_id))
    return `location_id: ${location_id} is no location in which this device is or was.`;
  const at = zones.findIndex(({ zone_id }) => known.zones.get(zone_id) !== location_id);
  return at < 0 ? undefined : `zones[${at}].zone_id: ${zones[at]?.zone_id} is no zone of ${location_id}.`;
}

export const visitKind = ({ sql }: EventsDatabase, ask: AskEstate): ItemKind<Visit, KnownPlaces, VisitRow> => ({
  table: 'visits',
  schema: NewVisit,
  faultOf,

  async find(device, items) {
    const [locations, zones] = await Promise.all([
      findLocationsOf(sql, device),
      findZones(sql, device.accountId, zoneIdsOf(items)),
    ]);
    return { locations, zones };
  },

  async ask(device, items, known) {
    const locations = new Set(items.map(({ location_id }) => location_id)).difference(known.locations);
    await ask(device, [...locations, ...zoneIdsOf(items).filter((id) => !known.zones.has(id))]);
  },

  intervalOf: ({ entered_at, left_at }, corrected) => ({ start: corrected(entered_at), end: corrected(left_at) }),

  rowOf: ({ event_id, location_id, visitor_key, zones }, _known, corrected) => ({
    ...{ event_id, location_id, visitor_key },
    zones: zones
      .map(({ zone_id, entered_at, left_at }) => ({ zone_id, start: corrected(entered_at), end: corrected(left_at) }))
      .filter(({ start, end }) => start < end),
  }),

  /** A visit belongs to the day on which it began. */
  dirtied: ({ location_id }, { start }) => hoursOf(location_id, start, start + 1),
});
