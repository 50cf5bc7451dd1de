import type { Clock } from '@attribution/runtime';
import type { ReadFigures } from '../reading/index.ts';

/** What reads figures. */
export interface Dependencies {
  readonly figures: ReadFigures;
  readonly clock: Clock;
}
