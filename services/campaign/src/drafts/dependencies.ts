import type { Clock } from '@attribution/runtime';
import type { PosterUrl } from '../campaigns/index.ts';
import type { CampaignDatabase } from '../store.ts';

export interface Dependencies {
  readonly database: CampaignDatabase;
  readonly clock: Clock;
  readonly posterUrl: PosterUrl;
}
