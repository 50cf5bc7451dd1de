import type { Implementation } from '@attribution/service';
import type { Dependencies } from './dependencies.ts';
import { listCohortsEndpoint } from './list-cohorts.ts';
import { summarizeLoyaltyEndpoint } from './summarize-loyalty.ts';

export const loyaltyEndpoints = (dependencies: Dependencies): Implementation[] => [
  summarizeLoyaltyEndpoint(dependencies),
  listCohortsEndpoint(dependencies),
];
