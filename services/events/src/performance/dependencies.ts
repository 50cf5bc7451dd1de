import type { Clock } from '@attribution/runtime';
import type { AskSight } from '../campaigns/index.ts';
import type { ReadFigures } from '../reading/index.ts';

export interface Dependencies {
  readonly figures: ReadFigures;
  readonly clock: Clock;
  readonly askSight: AskSight;
}
