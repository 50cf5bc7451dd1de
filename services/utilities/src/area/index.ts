import { coverage, Problem, type travelModes } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { Threads } from '../threads.ts';
import { toldNow } from '../told.ts';

interface CoverageDependencies {
  readonly threads: Pick<Threads, 'cells'>;
  readonly clock: Clock;
}

/** Metres that people get ahead in a minute, as the crow flies. */
const metresPerMinute: Readonly<Record<(typeof travelModes)[number], number>> = { walk: 80, bike: 250, drive: 500 };

export const coverageEndpoint = ({ threads, clock }: CoverageDependencies) =>
  implement(coverage, async ({ query }) => {
    const { latitude, longitude, radius_m, minutes = 0, mode = 'walk', resolution } = query;
    const radius = radius_m ?? minutes * metresPerMinute[mode];
    const found = await threads.cells.cellsAround({ latitude, longitude }, radius, resolution);
    if (!found)
      throw new Problem(
        'validation-error',
        'query.resolution: these would be more than 10,000 cells; take a coarser one.',
      );
    return {
      cells: [...found.cells],
      resolution: found.resolution,
      area_m2: found.area,
      geometry: { type: 'MultiPolygon' as const, coordinates: found.polygons },
      method: radius_m === undefined ? ('travel_estimate' as const) : ('radius' as const),
      ...toldNow(clock, 'h3'),
    };
  });
