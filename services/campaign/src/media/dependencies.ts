import type { Clock } from '@attribution/runtime';
import type { Logger } from 'pino';
import type { JobQueue } from '../jobs/index.ts';
import type { CampaignDatabase } from '../store.ts';
import type { ObjectStore } from './store/index.ts';
import type { Signer } from './tickets.ts';
import type { MediaUrls } from './urls.ts';

/** What the endpoints and jobs of media work with. */
export interface MediaDependencies {
  readonly database: CampaignDatabase;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly store: ObjectStore;
  readonly signer: Signer;
  readonly urls: MediaUrls;
  readonly jobs: JobQueue;
  /** Has the objects that nothing refers to deleted soon. */
  sweep(): void;
}
