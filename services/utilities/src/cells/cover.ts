import * as h3 from 'h3-js';
import { areaWithin, distanceBetween, type Point } from '../earth.ts';

/** H3 cells around a point, and their outline as unit vectors and as degrees. */
export interface Cover {
  readonly resolution: number;
  readonly cells: readonly string[];
}

const resolutions = { coarsest: 5, finest: 11 } as const;
/** Without a resolution, the finest one with no more cells than this is taken. */
const usualCells = 2_000;
const mostCells = 10_000;

/** The largest cell of a resolution has less than this many times their mean area: https://h3geo.org/docs/core-library/restable */
const largestToMean = 1.4;
/** Cells around one another are not all equally far apart: the disk of cells is made that much larger. */
const margin = 1.1;
const outerRings = 2;

/**
 * The cells whose centre is no more than `radius` metres away, and the one that the point is in. Undefined if they are more
 * than 10,000.
 */
export function cover(point: Point, radius: number, resolution?: number): Cover | undefined {
  if (resolution !== undefined) return coverBy(point, radius, resolution, mostCells);
  for (let finer: number = resolutions.finest; finer > resolutions.coarsest; finer--) {
    const found = coverBy(point, radius, finer, usualCells);
    if (found) return found;
  }
  return coverBy(point, radius, resolutions.coarsest, mostCells);
}

function coverBy(point: Point, radius: number, resolution: number, most: number): Cover | undefined {
  const least = areaWithin(radius) / (h3.getHexagonAreaAvg(resolution, h3.UNITS.m2) * largestToMean);
  // A circle that holds so many of the largest cells may still lack the centres of some at its edge.
  if (least > most * 1.1 + 20) return undefined;
  const origin = h3.latLngToCell(point.latitude, point.longitude, resolution);
  let rings = Math.ceil((margin * radius) / ringHeight(origin)) + outerRings;
  for (; ; rings *= 2) {
    const disk = h3.gridDiskDistances(origin, rings);
    const isIn = (cell: string) => cell === origin || distanceBetween(centreOf(cell), point) <= radius;
    if (disk.slice(-outerRings).flat().some(isIn)) continue;
    const cells = disk.flat().filter(isIn);
    return cells.length > most ? undefined : { resolution, cells: cells.sort() };
  }
}

export function centreOf(cell: string): Point {
  const [latitude, longitude] = h3.cellToLatLng(cell);
  return { latitude, longitude };
}

/** How far, in metres, neighbouring rows of cells are from each other, at least. */
function ringHeight(cell: string): number {
  const centre = centreOf(cell);
  const neighbours = h3.gridDisk(cell, 1).filter((other) => other !== cell);
  return (Math.sqrt(3) / 2) * Math.min(...neighbours.map((other) => distanceBetween(centre, centreOf(other))));
}
