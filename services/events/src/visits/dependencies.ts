import type { Clock } from '@attribution/runtime';
import type { EventsDatabase } from '../store.ts';

/** What reads figures. */
export interface Dependencies {
  readonly database: EventsDatabase;
  readonly clock: Clock;
}
