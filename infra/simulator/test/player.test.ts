import { expect, test } from '@jest/globals';
import { createPlayer, type Manifest, type Slot } from '../src/index.ts';

const minute = 60_000;
const zero = Date.parse('2027-03-28T00:00:00.000Z');
const at = (minutes: number) => new Date(zero + minutes * minute).toISOString();

const item = (name: string, minutes: number, more: object = {}) => ({
  ...{ campaign_ad_id: name, campaign_id: 'cmp', version: 1, sha256: name, duration_ms: minutes * minute },
  ...{ not_before: null, not_after: null, ...more },
});

const manifestOf = (items: Manifest['items'], slots: readonly Slot[]): Manifest => ({
  ...{ schema_version: 1, device_id: 'dev', version: 1, covers_from: at(0), covers_to: at(2 * 1440), files: [] },
  ...{ location_id: 'loc', holdouts: [] },
  items,
  screens: [{ screen_id: 'scr', output: 'HDMI-1', slots }],
});

const slot = (start: number | null, end: number | null, ...campaign_ad_ids: string[]): Slot => ({
  start_at: start === null ? null : at(start),
  end_at: end === null ? null : at(end),
  campaign_ad_ids,
});

/** What was shown, as `name from-to` in minutes; `…` where it was cut off. */
function shown(manifest: Manifest, steps: readonly number[], has: (sha256: string) => boolean = () => true): string[] {
  const player = createPlayer('scr', zero);
  return steps
    .flatMap((to) => player.playUntil(zero + to * minute, manifest, has))
    .map(({ campaign_ad_id, started_at, ended_at, completed }) => {
      const [from, to] = [started_at, ended_at].map((ms) => (ms - zero) / minute);
      return `${campaign_ad_id} ${from}-${to}${completed ? '' : '…'}`;
    });
}

test('ads play round and round, whole, however time is sliced', () => {
  const manifest = manifestOf([item('a', 2), item('b', 3)], [slot(null, null, 'a', 'b', 'a')]);
  const expected = ['a 0-2', 'b 2-5', 'a 5-7', 'a 7-9', 'b 9-12'];
  expect(shown(manifest, [12])).toEqual(expected);
  expect(shown(manifest, [0.5, 0.5, 1.99, 2, 4, 4.5, 11, 12])).toEqual(expected);
});

test('a slot begins with its first ad and cuts off what is on at its end; a gap shows nothing', () => {
  const manifest = manifestOf([item('a', 2), item('b', 3)], [slot(null, 3, 'a'), slot(3, 5, 'b'), slot(7, null, 'a')]);
  expect(shown(manifest, [11])).toEqual(['a 0-2', 'a 2-3…', 'b 3-5…', 'a 7-9', 'a 9-11']);
});

test('an ad is skipped before its first and after its last instant, and without its file', () => {
  const items = [item('a', 2, { not_before: at(3) }), item('b', 2, { not_after: at(5) }), item('c', 2), item('d', 1)];
  const manifest = manifestOf(items, [slot(null, null, 'a', 'b', 'c', 'd', 'unknown')]);
  expect(shown(manifest, [11], (sha256) => sha256 !== 'c')).toEqual([
    ...['b 0-2', 'd 2-3', 'a 3-5', 'd 5-6', 'a 6-8', 'd 8-9', 'a 9-11'],
  ]);
});

test('a new manifest takes at once what it does not know off the screen, and leaves what it knows', () => {
  const player = createPlayer('scr', zero);
  const first = manifestOf([item('a', 10), item('b', 10)], [slot(null, null, 'a', 'b')]);
  const play = (to: number, manifest: Manifest) =>
    player
      .playUntil(zero + to * minute, manifest, () => true)
      .map(({ campaign_ad_id, ended_at }) => [campaign_ad_id, (ended_at - zero) / minute]);
  expect(play(4, first)).toEqual([]);
  expect(play(6, manifestOf(first.items, [slot(null, null, 'a')]))).toEqual([]);
  expect(play(7, manifestOf(first.items, [slot(null, null, 'b')]))).toEqual([['a', 6]]);
  expect(play(30, manifestOf([], []))).toEqual([['b', 7]]);
});

test('the round goes on under a new manifest with the same list, whatever it says of its beginning; after a gap it begins anew', () => {
  const player = createPlayer('scr', zero);
  const items = [item('a', 1), item('b', 1), item('c', 1)];
  const until = (to: number, ...slots: Slot[]) =>
    player
      .playUntil(zero + to * minute, manifestOf(items, slots), () => true)
      .map(({ campaign_ad_id }) => campaign_ad_id);
  expect(until(2, slot(0, 1440, 'a', 'b', 'c'))).toEqual(['a', 'b']);
  expect(until(4, slot(null, null, 'a', 'b', 'c'))).toEqual(['c', 'a']);
  expect(until(7, slot(null, 5, 'a', 'b', 'c'), slot(6, null, 'a', 'b', 'c'))).toEqual(['b', 'a']);
  expect(until(8, slot(null, null, 'c', 'a'))).toEqual(['c']);
});

test('a second reading of each manifest shows the same: days of three zones over the change of their clocks', () => {
  // What is on in a minute, by the slot's own beginning alone.
  const simple = ({ items, screens }: Manifest, ms: number): string | undefined => {
    const found = screens[0]?.slots.find(
      ({ start_at, end_at }) => Date.parse(start_at ?? at(0)) <= ms && (end_at === null || ms < Date.parse(end_at)),
    );
    const list = (found?.campaign_ad_ids ?? []).map((id) => items.find(({ campaign_ad_id }) => campaign_ad_id === id));
    const round = list.reduce((sum, one) => sum + (one?.duration_ms ?? 0), 0);
    let position = (ms - Date.parse(found?.start_at ?? at(0))) % round;
    for (const one of list) if (one && (position -= one.duration_ms) < 0) return one.campaign_ad_id;
    return undefined;
  };
  // Zurich skips an hour, Santiago repeats one, Lord Howe half of one: an hour is held out at its local time.
  for (const [skipped, length] of [
    [60, 0],
    [180, 120],
    [90, 90],
  ] as const) {
    const items = [item('a', 1), item('b', 2.5), item('c', 4)];
    const slots = [
      slot(null, skipped, 'a', 'b', 'c'),
      ...(length > 0 ? [slot(skipped, skipped + length, 'c', 'a')] : []),
      slot(skipped + length, 1380, 'a', 'c', 'b'),
      slot(1400, null, 'b', 'a'),
    ];
    const manifest = manifestOf(items, slots);
    const plays = [createPlayer('scr', zero)].flatMap((player) =>
      player.playUntil(zero + 2 * 1440 * minute, manifest, () => true),
    );
    for (let minutes = 0.25; minutes < 2 * 1440 - 5; minutes += 0.5) {
      const ms = zero + minutes * minute;
      const on = plays.find(({ started_at, ended_at }) => started_at <= ms && ms < ended_at)?.campaign_ad_id;
      expect([minutes, on]).toEqual([minutes, simple(manifest, ms)]);
    }
  }
});
