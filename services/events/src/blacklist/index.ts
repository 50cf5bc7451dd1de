import type { Implementation } from '@attribution/service';
import { createEntryEndpoint } from './create-entry.ts';
import { deleteEntryEndpoint } from './delete-entry.ts';
import type { Dependencies } from './dependencies.ts';
import { getEntryEndpoint } from './get-entry.ts';
import { listEntriesEndpoint } from './list-entries.ts';

export { shareBlacklist } from './lock.store.ts';
export { leavesOut } from './rule.ts';

export const blacklistEndpoints = (dependencies: Dependencies): Implementation[] => [
  listEntriesEndpoint(dependencies),
  createEntryEndpoint(dependencies),
  getEntryEndpoint(dependencies),
  deleteEntryEndpoint(dependencies),
];
