import { z } from 'zod';
import type { Refinement } from '../wire/refined-by.ts';

/** One side of a screen, in pixels. The maximum is a JPEG's (ITU-T T.81 §B.2.2: 16 bits). */
export const ScreenPixels = z.int().min(1).max(65_535).meta({ description: 'Pixels', example: 1920 });

export const orientations = ['landscape', 'portrait', 'square'] as const;
export type Orientation = (typeof orientations)[number];

/** The orientation of a mounted screen, from its size in pixels. */
export function orientationOf(width: number, height: number): Orientation {
  if (width === height) return 'square';
  return width > height ? 'landscape' : 'portrait';
}

interface Sized {
  readonly width_px?: number | undefined;
  readonly height_px?: number | undefined;
  readonly orientation?: Orientation | undefined;
}

/** For `refinedBy`: a given orientation must agree with the size. It is checked only if all three values are given. */
export function fitsSize({ width_px, height_px, orientation }: Sized, context: Refinement): void {
  if (!width_px || !height_px || !orientation || context.issues.length > 0) return;
  const right = orientationOf(width_px, height_px);
  if (orientation === right) return;
  const message = `must be ${right} for ${width_px} x ${height_px}`;
  context.addIssue({ code: 'custom', path: ['orientation'], message, input: orientation });
}
