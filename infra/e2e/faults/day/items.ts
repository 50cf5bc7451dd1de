import { newUuid } from '@attribution/ids';
import type { DeviceClient } from '@attribution/simulator';
import type { Chance, RawPlay, RawVisit } from '@attribution/testing';
import { type Chain, type Shop, timezone } from './chain.ts';

type DayPlay = RawPlay & { readonly event_id: string };

/** Some items of a device, in one message. */
export interface Batch {
  readonly device: DeviceClient;
  readonly kind: 'visits' | 'plays';
  readonly ids: readonly string[];
  readonly items: readonly object[];
}

export interface Day {
  /** The local date. */
  readonly date: string;
  readonly visits: readonly RawVisit[];
  readonly plays: readonly DayPlay[];
  /** All of it once, in no order. */
  readonly batches: readonly Batch[];
}

/** Of one device. */
interface Busyness {
  readonly plays: number;
  readonly visits: number;
}

const minuteMs = 60_000;
/** People who live near a shop. */
const neighbours = 150;
const longestBatch = 120;

const iso = (instant: number) => new Date(instant).toISOString();

/** What every device of a chain played and saw on the day before yesterday, which began and ended on whole minutes. */
export function drawDay(chain: Chain, { plays, visits }: Busyness, chance: Chance): Day {
  const day = Temporal.Now.plainDateISO(timezone).subtract({ days: 2 });
  const from = day.toZonedDateTime(timezone).epochMilliseconds;
  const minutes = (day.add({ days: 1 }).toZonedDateTime(timezone).epochMilliseconds - from) / minuteMs;
  const drawn = { date: day.toString(), visits: [] as RawVisit[], plays: [] as DayPlay[], batches: [] as Batch[] };
  for (const shop of chain.shops) {
    const people = Array.from({ length: neighbours }, () => newUuid());
    for (const device of shop.devices) {
      const seen = Array.from({ length: visits }, () =>
        drawVisit(shop, chance.pick(people), from + chance.int(0, minutes - 1) * minuteMs, chance),
      );
      const shown = Array.from({ length: plays }, () =>
        drawPlay(chain, shop, from + chance.int(0, minutes - 1) * minuteMs, chance),
      );
      drawn.visits.push(...seen);
      drawn.plays.push(...shown);
      const adOf = (campaign: string) => chain.campaigns.find(({ id }) => id === campaign)?.ad ?? '';
      drawn.batches.push(
        ...cut(seen, device, 'visits', visitSent, chance),
        ...cut(shown, device, 'plays', (play) => playSent(play, adOf(play.campaign_id)), chance),
      );
    }
  }
  return { ...drawn, batches: shuffled(drawn.batches, chance) };
}

function drawVisit({ location, zones }: Shop, visitor_key: string, start: number, chance: Chance): RawVisit {
  const [first = '', second = ''] = zones;
  const between = start + chance.int(1, 10) * minuteMs;
  const end = between + chance.int(1, 20) * minuteMs;
  const stays = [
    { zone_id: first, start, end: between },
    { zone_id: second, start: between, end },
  ];
  return { event_id: newUuid(), visitor_key, location_id: location, start, end, zones: stays };
}

/** Of the campaign with a control, whole hours are held back, here those whose number is divided by five. */
function drawPlay({ campaigns }: Chain, { location, screens }: Shop, start: number, chance: Chance): DayPlay {
  const [campaign, screen] = [chance.pick(campaigns), chance.pick(screens)];
  const holdout = campaign.holdoutPercent > 0 && Math.floor(start / 3_600_000) % 5 === 0;
  return {
    ...{ event_id: newUuid(), location_id: location, zone_id: screen.zone, screen_id: screen.id, version: 1 },
    ...{ campaign_id: campaign.id, holdout, completed: chance.int(1, 5) > 1 },
    ...{ start, end: start + chance.int(1, 3) * minuteMs },
  };
}

const visitSent = ({ event_id, visitor_key, location_id, start, end, zones }: RawVisit) => ({
  ...{ event_id, visitor_key, location_id, entered_at: iso(start), left_at: iso(end) },
  zones: zones.map((stay) => ({ zone_id: stay.zone_id, entered_at: iso(stay.start), left_at: iso(stay.end) })),
});

const playSent = (
  { event_id, screen_id, version, completed, holdout, start, end }: DayPlay,
  campaign_ad_id: string,
) => ({
  ...{ event_id, screen_id, campaign_ad_id, version, completed, holdout, started_at: iso(start), ended_at: iso(end) },
});

function* cut<T extends { readonly event_id: string }>(
  items: readonly T[],
  device: DeviceClient,
  kind: Batch['kind'],
  sent: (item: T) => object,
  chance: Chance,
): Generator<Batch> {
  for (let from = 0; from < items.length; ) {
    const some = items.slice(from, from + chance.int(1, longestBatch));
    yield { device, kind, ids: some.map(({ event_id }) => event_id), items: some.map(sent) };
    from += some.length;
  }
}

const shuffled = <T>(all: readonly T[], chance: Chance): T[] =>
  all
    .map((one) => ({ one, at: chance.share() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ one }) => one);
