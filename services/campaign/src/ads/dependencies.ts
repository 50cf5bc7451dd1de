import type { Clock } from '@attribution/runtime';
import type { CampaignDatabase } from '../store.ts';

export interface Dependencies {
  readonly database: CampaignDatabase;
  readonly clock: Clock;
  readonly posterUrl: (key: string | null) => string | null;
}
