import type { Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import type { JobQueue } from '../jobs/index.ts';
import type { CampaignDatabase } from '../store.ts';
import type { Scorer } from './scorer.ts';
import type { Tokens } from './tokens.ts';

export interface ScoringDependencies {
  readonly database: CampaignDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly jobs: JobQueue;
  readonly scorer: Scorer;
  readonly tokens: Tokens;
}
