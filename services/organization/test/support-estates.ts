import type { Chance } from '@attribution/testing';
import { a, device, type Row } from './support-imports.ts';

/** The rows in another order, in which every parent still comes before what is in it or wired to it. */
export function shuffledWithin(rows: readonly Row[], draw: Chance): Row[] {
  const remaining = [...rows];
  const done: Row[] = [];
  const parentKinds = {
    group: undefined,
    location: 'group',
    zone: 'location',
    screen: 'zone',
    installation: 'location',
    camera: 'zone',
  };
  const keyOf = (row: Row) => `${String(row.kind)} ${String(row.external_id)}`;
  const mustWait = (row: Row) => {
    const parent = parentKinds[row.kind as keyof typeof parentKinds];
    return parent !== undefined && remaining.some((other) => keyOf(other) === `${parent} ${String(row.parent)}`);
  };
  while (remaining.length > 0) {
    const ready = remaining.filter((row) => !mustWait(row));
    const next = draw.pick(ready);
    remaining.splice(remaining.indexOf(next), 1);
    done.push(next);
  }
  return done;
}

/** Texts that people write, and that break careless programs. */
const oddTexts = [
  'Plain',
  'with, commas; and semicolons',
  'a "quoted" name',
  '"',
  "it's",
  "=cmd|' /C calc'!A0",
  '+1',
  '@SUM(1)',
  '-1',
  '🏪 Ladengeschäft Zürich',
  '东京',
  'e\u0301 and é',
  'null',
  'true',
  '1e5',
  '\\n \\',
  '\uFEFFmark',
  '<script>',
  '%00',
  'x'.repeat(200),
];
const oddLines = [
  '',
  ' leading',
  'trailing ',
  'two\nlines',
  'two\r\nlines',
  'a\rreturn',
  '\n',
  '"quoted"\n,',
  '\t',
  ...oddTexts,
];

/** A random estate of all six kinds, with odd names and with external ids. */
export function randomEstate(draw: Chance, size = 6): Row[] {
  let count = 0;
  const ref = (kind: string) => `${kind}-${draw.pick(oddTexts).slice(0, 150)}-${count++}`.trim();
  const name = () => draw.pick(oddTexts);
  const maybe = <T>(value: () => T) => (draw.int(0, 1) === 0 ? value() : undefined);
  const some = (most: number) => Array.from({ length: draw.int(0, most) });
  const coordinates = () => ({
    latitude: draw.pick([0, 90, -90, 47.368_6, 1e-7, -0.000_001_234_567_890_123_4, 1 / 3]),
    longitude: draw.pick([0, 180, -180, 8.539_2, 1e-9, -1 / 7]),
  });
  const hours = () =>
    Object.fromEntries(
      ['mon', 'tue', 'sun']
        .filter(() => draw.int(0, 1) === 0)
        .map((day) => [day, [{ opens: '09:00', closes: '18:30' }]]),
    );
  const groups = Array.from({ length: 3 }, () => a.group(ref('G'), { name: name(), description: draw.pick(oddLines) }));
  const rows: Row[] = [...groups];
  for (let at = 0; at < size; at++) {
    const location = ref('L');
    rows.push(
      a.location(location, String(draw.pick(groups).external_id), {
        ...{ name: name(), timezone: draw.pick(['UTC', 'Asia/Kathmandu']), address: draw.pick(oddLines) },
        ...(maybe(coordinates) ?? {}),
        ...{ venue_type: maybe(() => 'retail.grocery'), opening_hours: maybe(hours), status: maybe(() => 'inactive') },
      }),
    );
    const screens: string[] = [];
    for (const _ of some(3)) {
      const zone = ref('Z');
      rows.push(a.zone(zone, location, { name: name(), zone_kind: maybe(() => draw.pick(['window', 'aisle'])) }));
      for (const __ of some(3)) {
        const screen = ref('S');
        screens.push(screen);
        rows.push(
          a.screen(screen, zone, {
            ...{
              name: name(),
              tags: maybe(() => 'Window,eye level,東京'),
              width_px: draw.int(1, 4_000),
              height_px: draw.int(1, 4_000),
            },
            ...{ accepted_formats: maybe(() => 'video/webm,image/png'), audio: maybe(() => draw.int(0, 1) === 0) },
          }),
        );
      }
      for (const __ of some(1)) rows.push(a.camera(ref('C'), zone, device(draw.int(0, 1e9)), { name: name() }));
    }
    for (const live of [true, false]) {
      const outputs = screens
        .filter(() => draw.int(0, 1) === 0)
        .map((screen, i) => ({ output: draw.pick(oddTexts).slice(0, 60).trim() + i, screen }));
      rows.push(
        a.installation(ref('I'), location, device(1e10 + count), {
          ...{ name: maybe(name), outputs, status: live ? maybe(() => 'live') : 'removed' },
        }),
      );
    }
  }
  return rows;
}
