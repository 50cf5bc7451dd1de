import type { Manifest, ManifestItem, Slot } from './manifest.ts';

/** What a screen has shown. Instants in milliseconds since the epoch. */
export interface Play {
  readonly screen_id: string;
  readonly campaign_ad_id: string;
  readonly version: number;
  readonly started_at: number;
  readonly ended_at: number;
  /** Whether it was shown for its whole duration. */
  readonly completed: boolean;
}

export interface Player {
  /**
   * Plays on until an instant and returns what ended by then. `has`: whether a file is there and was checked. An item that
   * cannot be played is skipped.
   */
  playUntil(to: number, manifest: Manifest, has: (sha256: string) => boolean): Play[];
}

interface Showing {
  readonly item: ManifestItem;
  readonly since: number;
}

const instant = (text: string | null, otherwise: number): number => (text === null ? otherwise : Date.parse(text));
const startOf = (slot: Slot) => instant(slot.start_at, Number.NEGATIVE_INFINITY);
const endOf = (slot: Slot) => instant(slot.end_at, Number.POSITIVE_INFINITY);

/** One screen, from an instant on. It knows no clock: whoever calls says what time it is, so that a day may take a second. */
export function createPlayer(screenId: string, from: number): Player {
  let now = from;
  let showing: Showing | undefined;
  /** The list whose round goes on, and the last item of it that was begun; the next one follows it. */
  let round: { readonly list: string; readonly index: number } | undefined;

  return {
    playUntil(to, manifest, has) {
      const plays: Play[] = [];
      const slots = manifest.screens.find(({ screen_id }) => screen_id === screenId)?.slots ?? [];
      const items = new Map(manifest.items.map((item) => [item.campaign_ad_id, item]));

      /** Whether an item may be shown at an instant. */
      const mayShow = (item: ManifestItem, at: number) =>
        item.duration_ms > 0 &&
        has(item.sha256) &&
        instant(item.not_before, at) <= at &&
        at < instant(item.not_after, at + 1);

      /** When the present item has to leave the screen, as the manifest is now. */
      function endOfShowing({ item, since }: Showing): number {
        const slot = slotAt(slots, now);
        const current = items.get(item.campaign_ad_id);
        if (!slot?.campaign_ad_ids.includes(item.campaign_ad_id) || current?.version !== item.version) return now;
        return Math.max(
          now,
          Math.min(since + item.duration_ms, endOf(slot), instant(current.not_after, Number.POSITIVE_INFINITY)),
        );
      }

      function begin(): boolean {
        const slot = slotAt(slots, now);
        if (!slot) {
          round = undefined;
          return false;
        }
        // Not the slot's beginning: the manifest of the next day names the same slot by another one.
        const list = slot.campaign_ad_ids.join();
        const count = slot.campaign_ad_ids.length;
        const first = round?.list === list ? round.index + 1 : 0;
        for (let step = 0; step < count; step++) {
          const index = (first + step) % count;
          const item = items.get(slot.campaign_ad_ids[index] ?? '');
          if (!item || !mayShow(item, now)) continue;
          round = { list, index };
          showing = { item, since: now };
          return true;
        }
        return false;
      }

      while (now < to) {
        if (!showing && !begin()) {
          now = Math.min(to, nextChange(manifest, slots, now));
          continue;
        }
        const { item, since } = showing as Showing;
        const end = endOfShowing({ item, since });
        if (end > to) {
          now = to;
          break;
        }
        now = end;
        showing = undefined;
        if (end > since) {
          const { campaign_ad_id, version } = item;
          const completed = end - since >= item.duration_ms;
          plays.push({ screen_id: screenId, campaign_ad_id, version, started_at: since, ended_at: end, completed });
        }
      }
      return plays;
    },
  };
}

const slotAt = (slots: readonly Slot[], at: number): Slot | undefined =>
  slots.find((slot) => startOf(slot) <= at && at < endOf(slot));

/** The next instant after which something else may be shown. */
function nextChange({ items }: Manifest, slots: readonly Slot[], after: number): number {
  const instants = [
    ...slots.flatMap((slot) => [startOf(slot), endOf(slot)]),
    ...items.flatMap(({ not_before, not_after }) => [instant(not_before, after), instant(not_after, after)]),
  ];
  return Math.min(...instants.filter((at) => at > after), Number.POSITIVE_INFINITY);
}
