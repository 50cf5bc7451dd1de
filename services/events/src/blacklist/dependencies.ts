import type { Clock } from '@attribution/runtime';
import type { AskEstate } from '../estate/index.ts';
import type { EventsDatabase } from '../store.ts';

export interface Dependencies {
  readonly database: EventsDatabase;
  readonly clock: Clock;
  readonly ask: { readonly estate: AskEstate };
}
