import type { Clock } from '@attribution/runtime';
import type { RequireCampaign } from '../campaigns/index.ts';
import type { EventsDatabase } from '../store.ts';

export interface Dependencies {
  readonly database: EventsDatabase;
  readonly clock: Clock;
  readonly requireCampaign: RequireCampaign;
}
