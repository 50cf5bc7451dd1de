import { z } from 'zod';
import { Timestamp } from '../wire/formats.ts';
import { id } from '../wire/ids.ts';
import { refinedBy } from '../wire/refined-by.ts';

/** The fraction of a second is in whole milliseconds: further digits say nothing. */
const instantOf = (timestamp: string) => Date.parse(timestamp);

/** A UUIDv7 that a device makes once, and keeps for each attempt to send the item. */
export const ItemId = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/, 'must be a UUIDv7 in lower case')
  .meta({ example: '01968f3e-7a4b-7cc1-9f6e-3a5b2c1d0e4f' });

export const VisitorKey = z
  .string()
  .regex(/^[A-Za-z0-9_-]{16,64}$/, 'must have 16 to 64 of A-Z a-z 0-9 _ -')
  .meta({ description: 'Made on the device, and nobody’s name', example: 'v_8fJ2kPq0sXw3LmZt' });

const stay = { entered_at: Timestamp, left_at: Timestamp };

const ZoneStay = z.object({ zone_id: id('zone'), ...stay });

interface Stay {
  readonly entered_at: string;
  readonly left_at: string;
}

const isEmpty = ({ entered_at, left_at }: Stay) => instantOf(entered_at) >= instantOf(left_at);

/** The side of a stay that is outside another one. */
function sideOutside(inner: Stay, outer: Stay): keyof Stay | undefined {
  if (instantOf(inner.entered_at) < instantOf(outer.entered_at)) return 'entered_at';
  return instantOf(inner.left_at) > instantOf(outer.left_at) ? 'left_at' : undefined;
}

/** The first of the stays that begins before an earlier one in the same zone has ended. */
function overlapping(zones: readonly z.output<typeof ZoneStay>[]): number | undefined {
  const left = new Map<string, number>();
  const inOrder = zones
    .map((zone, at) => ({ zone, at }))
    .toSorted((a, b) => instantOf(a.zone.entered_at) - instantOf(b.zone.entered_at));
  for (const { zone, at } of inOrder) {
    if (instantOf(zone.entered_at) < (left.get(zone.zone_id) ?? Number.NEGATIVE_INFINITY)) return at;
    left.set(zone.zone_id, instantOf(zone.left_at));
  }
  return undefined;
}

export const NewVisit = z
  .object({
    event_id: ItemId,
    visitor_key: VisitorKey,
    location_id: id('location'),
    ...stay,
    zones: z.array(ZoneStay).max(200).default([]),
  })
  .check(
    refinedBy((visit, context) => {
      const refuse = (path: (string | number)[], message: string, input: string | undefined) =>
        context.addIssue({ code: 'custom', path, message, input });
      const later = 'must be later than entered_at';
      if (isEmpty(visit)) return refuse(['left_at'], later, visit.left_at);
      for (const [at, zone] of visit.zones.entries()) {
        if (isEmpty(zone)) return refuse(['zones', at, 'left_at'], later, zone.left_at);
        const side = sideOutside(zone, visit);
        if (side) return refuse(['zones', at, side], 'must be within the visit', zone[side]);
      }
      const at = overlapping(visit.zones);
      if (at === undefined) return;
      const { entered_at } = visit.zones[at] ?? {};
      refuse(['zones', at, 'entered_at'], 'must not be before the last stay in the zone has ended', entered_at);
    }),
  )
  .meta({ id: 'NewVisit', description: 'Somebody was in a location' });

export const NewPlay = z
  .object({
    event_id: ItemId,
    screen_id: id('screen'),
    campaign_ad_id: id('campaign_ad'),
    version: z.int().min(1).meta({ description: 'The published version that was played' }),
    started_at: Timestamp,
    ended_at: Timestamp,
    completed: z.boolean().default(true),
    holdout: z
      .boolean()
      .default(false)
      .meta({ description: 'The slot came up, and the campaign was left out of it. Nothing was shown' }),
  })
  .check(
    refinedBy(({ started_at, ended_at }, context) => {
      if (instantOf(started_at) >= instantOf(ended_at))
        context.addIssue({
          code: 'custom',
          path: ['ended_at'],
          message: 'must be later than started_at',
          input: ended_at,
        });
    }),
  )
  .meta({ id: 'NewPlay', description: 'A screen played an ad, or held it back' });
