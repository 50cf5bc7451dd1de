import type { Implementation } from '@attribution/service';
import type { Dependencies } from './dependencies.ts';
import { getLiftEndpoint } from './lift.ts';
import { getPerformanceEndpoint } from './performance.ts';
import { getTimeseriesEndpoint } from './timeseries.ts';

/** What a campaign did. */
export const performanceEndpoints = (dependencies: Dependencies): Implementation[] => [
  getPerformanceEndpoint(dependencies),
  getTimeseriesEndpoint(dependencies),
  getLiftEndpoint(dependencies),
];
