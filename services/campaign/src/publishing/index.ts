import type { Implementation } from '@attribution/service';
import { archiveEndpoint } from './archive.ts';
import type { Dependencies } from './dependencies.ts';
import { discardDraftEndpoint } from './discard-draft.ts';
import { listPublishedEndpoint } from './list-published.ts';
import { publishEndpoint } from './publish.ts';
import { reviseEndpoint } from './revise.ts';
import { getVersionEndpoint, listVersionsEndpoint } from './versions.ts';

export const publishingEndpoints = (dependencies: Dependencies): Implementation[] => [
  publishEndpoint(dependencies),
  reviseEndpoint(dependencies),
  discardDraftEndpoint(dependencies),
  archiveEndpoint(dependencies),
  listVersionsEndpoint(dependencies),
  getVersionEndpoint(dependencies),
  listPublishedEndpoint(dependencies.database),
];
