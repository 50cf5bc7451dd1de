import { describe, expect, test } from '@jest/globals';
import { type Assignment, createOutline } from '../src/imports/outline.ts';
import type { ReadRow } from '../src/imports/row.ts';

type Line = readonly [kind: ReadRow['kind'], ref: string, parent?: string, fields?: ReadRow['fields']];

/** Assigns lines as rows 2, 3 and so on. */
function outlineOf(lines: readonly Line[], existingZones: Readonly<Record<string, string>> = {}) {
  const outline = createOutline();
  for (const [zone, location] of Object.entries(existingZones)) outline.addExistingZone(zone, location);
  const assigned = lines.map(([kind, ref, parent, fields = {}], at) =>
    outline.assign(at + 2, { kind, ref, parent, fields }),
  );
  return { outline, assigned, units: assigned.map(({ unit }) => unit), late: [...outline.lateFaults()] };
}

const player = (device_id: string, more: object = {}) => ({ device_id, ...more });

describe('units', () => {
  test('a location and everything in it are one unit, numbered by its first row; a group is a unit of its own', () => {
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
    const { units, assigned } = outlineOf([
      ['group', 'X'],
      ['location', 'X', 'X'],
      ['zone', 'X', 'X'],
      ['screen', 'X', 'X'],
    ]);
    expect(units).toEqual([2, 3, 3, 3]);
    expect(assigned.every(({ reason }) => reason === undefined)).toBe(true);
  });

  test('rows in a location without a row of its own are one unit', () => {
    expect(
      outlineOf([
        ['zone', 'Z', 'L'],
        ['installation', 'I', 'L'],
        ['zone', 'Y', 'L'],
      ]).units,
    ).toEqual([2, 2, 2]);
  });

  test('rows in a zone that exists already are in the unit of its location', () => {
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

  test('the row of a zone takes precedence over the existing zone', () => {
    const { units } = outlineOf(
      [
        ['zone', 'Z', 'M'],
        ['screen', 'S', 'Z'],
      ],
      { Z: 'L' },
    );
    expect(units).toEqual([2, 2]);
  });

  test('rows in an unknown zone have no unit', () => {
    expect(outlineOf([['screen', 'S', 'Z']]).units).toEqual([undefined]);
  });

  test.each<[string, Line[], Assignment['unit']]>([
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
      'a group of the file, because the row is then probably a location',
      [
        ['group', 'G'],
        [undefined, 'L', 'G'],
      ],
      3,
    ],
    ['unknown, and then probably a location', [[undefined, 'Z', 'L']], 2],
  ])('the unit of a row of unknown kind, when its parent is %s', (_, lines, unit) => {
    const { units } = outlineOf([...lines, ['zone', 'Y', 'L']]);
    expect(units.slice(-2)).toEqual([unit, unit]);
  });

  test('a row of unknown kind without a parent, and a location without an external id, have no unit', () => {
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
    'a second row of the same %s is faulty, and the reason names the first row',
    (kind) => {
      const { assigned } = outlineOf([
        [kind, 'X', 'P'],
        ['group', 'other'],
        [kind, 'X', 'P'],
        [kind, 'X', 'P'],
      ]);
      const reason = `external_id: row 2 is of the same ${kind} already.`;
      expect(assigned.map(({ reason }) => reason)).toEqual([undefined, undefined, reason, reason]);
    },
  );

  test('both rows of a location are in one unit, so that all of it is refused', () => {
    expect(
      outlineOf([
        ['location', 'L', 'G'],
        ['location', 'L', 'H'],
      ]).units,
    ).toEqual([2, 2]);
  });

  test('a zone in two locations is faulty in both, because its screens may be in either', () => {
    const { assigned, late } = outlineOf([
      ['zone', 'Z', 'A'],
      ['zone', 'Z', 'B'],
      ['screen', 'S', 'Z'],
    ]);
    expect(assigned.map(({ unit }) => unit)).toEqual([2, 3, 2]);
    expect(assigned[1]?.reason).toBe('external_id: row 2 is of the same zone already.');
    const reason = 'external_id: row 3 is of the same zone, in another location.';
    expect(late).toEqual([[2, [{ unit: 2, reason, isOrder: false }]]]);
  });

  test('a screen in two locations is faulty in the second alone, because nothing is below it', () => {
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
  const reasons = (lines: readonly Line[]) => outlineOf(lines).assigned.map(({ reason }) => reason);
  const twice = 'device_id: row 2 has the device in a live installation already.';

  const live = player('d', { status: 'live' });

  test('the second of two live installations of one device is faulty', () => {
    const lines: Line[] = [
      ['installation', 'I', 'L', live],
      ['installation', 'J', 'M', live],
    ];
    expect(reasons(lines)).toEqual([undefined, twice]);
  });

  test('an installation without a status is accepted, because it may not be live', () => {
    const lines: Line[] = [
      ['installation', 'I', 'L', player('d')],
      ['installation', 'J', 'M', live],
    ];
    expect(reasons(lines)).toEqual([undefined, undefined]);
  });

  test('a removed installation releases its device, in either order', () => {
    const removed: Line = ['installation', 'I', 'L', player('d', { status: 'removed' })];
    const other: Line = ['installation', 'J', 'L', live];
    expect(reasons([removed, other])).toEqual([undefined, undefined]);
    expect(reasons([other, removed])).toEqual([undefined, undefined]);
  });

  test('a camera may share the device of an installation or of another camera', () => {
    expect(
      reasons([
        ['installation', 'I', 'L', player('d')],
        ['camera', 'C', 'Z', player('d')],
        ['camera', 'D', 'Z', player('d')],
      ]),
    ).toEqual([undefined, undefined, undefined]);
  });

  test('rows without a device do not share one', () => {
    expect(
      reasons([
        ['installation', 'I', 'L'],
        ['installation', 'J', 'L'],
      ]),
    ).toEqual([undefined, undefined]);
  });
});

describe('late parents', () => {
  test('a row before its parent is a late fault, with its unit and its parent', () => {
    const { units, late } = outlineOf([
      ['location', 'L', 'G'],
      ['group', 'G'],
      ['zone', 'Z', 'M'],
      ['location', 'M', 'G'],
    ]);
    expect(units).toEqual([2, 3, 4, 4]);
    expect(late).toEqual([
      [2, [{ unit: 2, reason: 'parent: its row comes after this one, in row 3.', isOrder: true }]],
      [4, [{ unit: 4, reason: 'parent: its row comes after this one, in row 5.', isOrder: true }]],
    ]);
  });

  test('screens and cameras before their zone are in the unit of the zone', () => {
    const { units, late } = outlineOf([
      ['location', 'L', 'G'],
      ['screen', 'S', 'Z'],
      ['camera', 'C', 'Z'],
      ['zone', 'Z', 'L'],
    ]);
    expect(units).toEqual([2, undefined, undefined, 2]);
    expect(late.map(([row, [fault]]) => [row, fault?.unit])).toEqual([
      [3, 2],
      [4, 2],
    ]);
  });

  test('a parent before its children and a parent without a row are no late faults', () => {
    expect(
      outlineOf([
        ['group', 'G'],
        ['location', 'L', 'G'],
        ['zone', 'Z', 'elsewhere'],
      ]).late,
    ).toEqual([]);
  });

  test('each of 100,000 children before their parent is a late fault', () => {
    const { late } = outlineOf([
      ...Array.from({ length: 100_000 }, (_, at): Line => ['location', `L${at}`, 'G']),
      ['group', 'G'],
    ]);
    expect(late).toHaveLength(100_000);
  });
});

test('it knows which things have had a row', () => {
  const { outline } = outlineOf([['zone', 'Z', 'L']]);
  expect([outline.has('zone', 'Z'), outline.has('zone', 'Y'), outline.has('screen', 'Z')]).toEqual([
    true,
    false,
    false,
  ]);
});
