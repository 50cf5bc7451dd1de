import type { Point } from '../earth.ts';
import { serve } from '../serve.ts';
import { type Cover, cover } from './cover.ts';
import { type Outline, outlineOf } from './outline.ts';

export type CellMethods = {
  /** Undefined if they are too many. */
  cellsAround(point: Point, radius: number, resolution?: number): (Cover & Outline) | undefined;
};

serve({
  cellsAround(point, radius, resolution) {
    const covered = cover(point, radius, resolution);
    return covered && { ...covered, ...outlineOf(covered, point, radius) };
  },
} satisfies CellMethods);
