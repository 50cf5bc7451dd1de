import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { fitsSize, orientationOf, orientations, ScreenPixels } from '../src/organization/screen-size.ts';
import { refinedBy } from '../src/wire/refined-by.ts';

test.each([1, 1080, 65_535])('%d pixels are a side of a screen', (pixels) => {
  expect(ScreenPixels.parse(pixels)).toBe(pixels);
});

test.each([0, -1, 65_536, 1080.5, Number.NaN, Number.POSITIVE_INFINITY, '1080', null])(
  '%p pixels are not',
  (pixels) => {
    expect(ScreenPixels.safeParse(pixels).success).toBe(false);
  },
);

test.each([
  [1920, 1080, 'landscape'],
  [1080, 1920, 'portrait'],
  [1080, 1080, 'square'],
  [1081, 1080, 'landscape'],
  [1, 65_535, 'portrait'],
])('%d by %d is %s', (width, height, orientation) => {
  expect(orientationOf(width, height)).toBe(orientation);
});

describe('a given orientation', () => {
  const Size = z
    .object({ width_px: ScreenPixels, height_px: ScreenPixels, orientation: z.enum(orientations) })
    .partial()
    .check(refinedBy(fitsSize));
  const issues = (value: unknown) =>
    (Size.safeParse(value, { reportInput: true }).error?.issues ?? []).map(
      ({ path, message, input }) => `${path.join('.')}: ${message}, not ${String(input)}`,
    );

  test('is accepted if it agrees with the size, else refused with the one that does', () => {
    for (const [width_px, height_px] of [
      [1920, 1080],
      [1080, 1920],
      [500, 500],
    ] as const) {
      const right = orientationOf(width_px, height_px);
      for (const orientation of orientations) {
        expect(issues({ width_px, height_px, orientation })).toEqual(
          orientation === right
            ? []
            : [`orientation: must be ${right} for ${width_px} x ${height_px}, not ${orientation}`],
        );
      }
    }
  });

  test.each([
    {},
    { orientation: 'portrait' },
    { width_px: 1920, height_px: 1080 },
    { width_px: 2, orientation: 'square' },
  ])('has nothing to be held against in %j', (value) => {
    expect(issues(value)).toEqual([]);
  });

  test('is not compared with an invalid size', () => {
    expect(issues({ width_px: 70_000, height_px: 1080, orientation: 'portrait' })).toEqual([
      expect.stringMatching(/^width_px: /),
    ]);
  });
});
