import { describe, expect, test } from '@jest/globals';
import { createOutline, type Place } from '../src/imports/outline.ts';
import type { ReadRow } from '../src/imports/row.ts';

type Line = readonly [kind: ReadRow['kind'], ref: string, parent?: string, fields?: ReadRow['fields']];

/** Places lines as rows 2, 3 and so on. */
function outlineOf(lines: readonly Line[], adopted: Readonly<Record<string, string>> = {}) {
  const outline = createOutline();
  for (const [zone, location] of Object.entries(adopted)) outline.adopt(zone, location);
  const places = lines.map(([kind, ref, parent, fields = {}], at) =>
    outline.place(at + 2, { kind, ref, parent, fields }),
  );
  return { outline, places, units: places.map(({ unit }) => unit), late: outline.late() };
}

const player = (device_id: string, more: object = {}) => ({ device_id, ...more });

describe('units', () => {
  test('a location and all that is in it are one unit, named by its first row; a group is one by itself', () => {
    const { units } = outlineOf([
      ['group', 'G'],
      ['location', 'L', 'G'],
      ['zone', 'Z', 'L'],
      ['screen', 'S', 'Z'],
      ['installation', 'I', 'L'],
      ['camera', 'C', 'Z'],
      ['location', 'M', 'G'],
    ]);
    expect(units).toEqual([2, 3, 3, 3, 3, 3, 8]);
  });

  test('rows of different locations may alternate', () => {
    const { units, late } = outlineOf([
      ['location', 'A', 'G'],
      ['location', 'B', 'G'],
      ['zone', 'BZ', 'B'],
      ['zone', 'AZ', 'A'],
      ['screen', 'S1', 'BZ'],
      ['screen', 'S2', 'AZ'],
    ]);
    expect(units).toEqual([2, 3, 3, 2, 3, 2]);
    expect(late).toEqual([]);
  });

  test('things of different kinds may share an external id', () => {
    const { units, places } = outlineOf([
      ['group', 'X'],
      ['location', 'X', 'X'],
      ['zone', 'X', 'X'],
      ['screen', 'X', 'X'],
    ]);
    expect(units).toEqual([2, 3, 3, 3]);
    expect(places.every(({ reason }) => reason === undefined)).toBe(true);
  });

  test('what is put into a location that has no row is one unit still', () => {
    expect(
      outlineOf([
        ['zone', 'Z', 'L'],
        ['installation', 'I', 'L'],
        ['zone', 'Y', 'L'],
      ]).units,
    ).toEqual([2, 2, 2]);
  });

  test('what is put into a zone that is there already is one unit with that zone’s location', () => {
    const { units } = outlineOf(
      [
        ['screen', 'S', 'Z'],
        ['location', 'L', 'G'],
        ['camera', 'C', 'Z'],
      ],
      { Z: 'L' },
    );
    expect(units).toEqual([2, 2, 2]);
  });

  test('a zone’s own row tells more than where the zone was', () => {
    const { units } = outlineOf(
      [
        ['zone', 'Z', 'M'],
        ['screen', 'S', 'Z'],
      ],
      { Z: 'L' },
    );
    expect(units).toEqual([2, 2]);
  });

  test('what is put into a zone that nobody knows is of no unit', () => {
    expect(outlineOf([['screen', 'S', 'Z']]).units).toEqual([undefined]);
  });

  test.each<[string, Line[], Place['unit']]>([
    [
      'a zone',
      [
        ['location', 'L', 'G'],
        ['zone', 'Z', 'L'],
        [undefined, 'S', 'Z'],
      ],
      2,
    ],
    [
      'a location',
      [
        ['location', 'L', 'G'],
        [undefined, 'Z', 'L'],
      ],
      2,
    ],
    [
      'a group of the file: it was to be a location',
      [
        ['group', 'G'],
        [undefined, 'L', 'G'],
      ],
      3,
    ],
    ['nothing that the file has had: a location, most likely', [[undefined, 'Z', 'L']], 2],
  ])('a row of no known kind belongs to its parent’s unit, when that is %s', (_, lines, unit) => {
    const { units } = outlineOf([...lines, ['zone', 'Y', 'L']]);
    expect(units.slice(-2)).toEqual([unit, unit]);
  });

  test('a row of no known kind and no parent, or a nameless location, is of no unit', () => {
    expect(
      outlineOf([
        [undefined, 'X'],
        ['location', '', 'G'],
        [undefined, '', 'G'],
      ]).units.slice(0, 2),
    ).toEqual([undefined, undefined]);
  });
});

describe('duplicates', () => {
  test.each(['group', 'location', 'zone', 'screen', 'installation', 'camera'] as const)(
    'a second row of one %s is at fault, and names the first',
    (kind) => {
      const { places } = outlineOf([
        [kind, 'X', 'P'],
        ['group', 'other'],
        [kind, 'X', 'P'],
        [kind, 'X', 'P'],
      ]);
      const reason = `external_id: row 2 is of the same ${kind} already.`;
      expect(places.map((place) => place.reason)).toEqual([undefined, undefined, reason, reason]);
    },
  );

  test('both rows of a location are of one unit, so that all of it is refused', () => {
    expect(
      outlineOf([
        ['location', 'L', 'G'],
        ['location', 'L', 'H'],
      ]).units,
    ).toEqual([2, 2]);
  });

  test('a zone in two locations is at fault in both: whose the screens below are, nobody can tell', () => {
    const { places, late } = outlineOf([
      ['zone', 'Z', 'A'],
      ['zone', 'Z', 'B'],
      ['screen', 'S', 'Z'],
    ]);
    expect(places.map(({ unit }) => unit)).toEqual([2, 3, 2]);
    expect(places[1]?.reason).toBe('external_id: row 2 is of the same zone already.');
    const reason = 'external_id: row 3 is of the same zone, in another location.';
    expect(late).toEqual([{ row: 2, kind: 'zone', ref: 'Z', unit: 2, reason }]);
  });

  test('a screen in two locations is at fault in the second alone: nothing is below it', () => {
    const { late } = outlineOf([
      ['zone', 'Y', 'A'],
      ['zone', 'Z', 'B'],
      ['screen', 'S', 'Y'],
      ['screen', 'S', 'Z'],
    ]);
    expect(late).toEqual([]);
  });
});

describe('devices', () => {
  const reasons = (lines: readonly Line[]) => outlineOf(lines).places.map(({ reason }) => reason);
  const twice = 'device_id: row 2 has the device in a live installation already.';

  const live = player('d', { status: 'live' });

  test('of two live installations of one device the second is at fault', () => {
    const lines: Line[] = [
      ['installation', 'I', 'L', live],
      ['installation', 'J', 'M', live],
    ];
    expect(reasons(lines)).toEqual([undefined, twice]);
  });

  test('one that does not say whether it is live may not be', () => {
    const lines: Line[] = [
      ['installation', 'I', 'L', player('d')],
      ['installation', 'J', 'M', live],
    ];
    expect(reasons(lines)).toEqual([undefined, undefined]);
  });

  test('a removed one has let go of its device, in either order', () => {
    const removed: Line = ['installation', 'I', 'L', player('d', { status: 'removed' })];
    const other: Line = ['installation', 'J', 'L', live];
    expect(reasons([removed, other])).toEqual([undefined, undefined]);
    expect(reasons([other, removed])).toEqual([undefined, undefined]);
  });

  test('a camera may run on an installation’s device, and two cameras on one', () => {
    expect(
      reasons([
        ['installation', 'I', 'L', player('d')],
        ['camera', 'C', 'Z', player('d')],
        ['camera', 'D', 'Z', player('d')],
      ]),
    ).toEqual([undefined, undefined, undefined]);
  });

  test('rows that do not say their device have none in common', () => {
    expect(
      reasons([
        ['installation', 'I', 'L'],
        ['installation', 'J', 'L'],
      ]),
    ).toEqual([undefined, undefined]);
  });
});

describe('late parents', () => {
  test('a row before its parent’s is late, in its own unit, and tells of which', () => {
    const { units, late } = outlineOf([
      ['location', 'L', 'G'],
      ['group', 'G'],
      ['zone', 'Z', 'M'],
      ['location', 'M', 'G'],
    ]);
    expect(units).toEqual([2, 3, 4, 4]);
    expect(late).toEqual([
      {
        ...{ row: 2, kind: 'location', ref: 'L', unit: 2, reason: 'parent: its row comes after this one, in row 3.' },
        parent: { kind: 'group', ref: 'G' },
      },
      {
        ...{ row: 4, kind: 'zone', ref: 'Z', unit: 4, reason: 'parent: its row comes after this one, in row 5.' },
        parent: { kind: 'location', ref: 'M' },
      },
    ]);
  });

  test('screens and cameras before their zone belong where it turns out to be', () => {
    const { units, late } = outlineOf([
      ['location', 'L', 'G'],
      ['screen', 'S', 'Z'],
      ['camera', 'C', 'Z'],
      ['zone', 'Z', 'L'],
    ]);
    expect(units).toEqual([2, undefined, undefined, 2]);
    expect(late.map(({ row, unit }) => [row, unit])).toEqual([
      [3, 2],
      [4, 2],
    ]);
  });

  test('a parent that has come is late for nobody, and one that never comes is not late', () => {
    expect(
      outlineOf([
        ['group', 'G'],
        ['location', 'L', 'G'],
        ['zone', 'Z', 'elsewhere'],
      ]).late,
    ).toEqual([]);
  });

  test('each of 100,000 children before their parent is told', () => {
    const { late } = outlineOf([
      ...Array.from({ length: 100_000 }, (_, at): Line => ['location', `L${at}`, 'G']),
      ['group', 'G'],
    ]);
    expect(late).toHaveLength(100_000);
  });
});

test('it says what it has had', () => {
  const { outline } = outlineOf([['zone', 'Z', 'L']]);
  expect([outline.has('zone', 'Z'), outline.has('zone', 'Y'), outline.has('screen', 'Z')]).toEqual([
    true,
    false,
    false,
  ]);
});
