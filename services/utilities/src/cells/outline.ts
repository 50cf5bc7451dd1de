import { cellsToMultiPolygon, getHexagonEdgeLengthAvg, UNITS } from 'h3-js';
import { intersection, union } from 'polyclip-ts';
import { distanceBetween, type Point } from '../earth.ts';
import { type Cover, centreOf } from './cover.ts';
import { ringArea, vectorOf } from './vectors.ts';

/** [longitude, latitude] in degrees. */
export type Position = [number, number];
/** Closed: the last position is the first one. */
type Ring = Position[];
export type MultiPolygon = Ring[][];

/** Only cells within this many lengths of their sides from the edge can be at the edge. */
const rimEdges = 6;

export interface Outline {
  readonly area: number;
  readonly polygons: MultiPolygon;
}

/**
 * The outline of the cells within a radius, counter-clockwise, cut at the 180th meridian (RFC 7946 §3.1.9), and the area inside. Such cells
 * have no gaps, so there is one ring around all of them; that around the cells at the rim is the same one, and found sooner.
 */
export function outlineOf({ cells, resolution }: Cover, point: Point, radius: number): Outline {
  const inner = radius - rimEdges * getHexagonEdgeLengthAvg(resolution, UNITS.m);
  const rim = inner <= 0 ? cells : cells.filter((cell) => distanceBetween(centreOf(cell), point) >= inner);
  const rings = cellsToMultiPolygon([...rim], true).flat() as Ring[];
  const measured = rings.map((ring) => ({
    ring,
    area: ringArea(ring.map(([longitude, latitude]) => vectorOf({ longitude, latitude }))),
  }));
  const [outer] = measured.sort((a, b) => Math.abs(b.area) - Math.abs(a.area));
  if (!outer) return { area: 0, polygons: [] };
  return {
    area: Math.abs(outer.area),
    polygons: cut(continuous(outer.area < 0 ? outer.ring.toReversed() : outer.ring)),
  };
}

/** The ring without leaps between 180 and -180, so that it may leave this range. One around a pole is led along it. */
function continuous(ring: Ring): Ring {
  let last = ring[0]?.[0] ?? 0;
  const steady = ring.map(([longitude, latitude]): Position => {
    last += ((((longitude - last) % 360) + 540) % 360) - 180;
    return [last, latitude];
  });
  const [first, end] = [steady[0], steady.at(-1)];
  if (!first || !end || Math.abs(end[0] - first[0]) < 180)
    return ring.length > 0 ? [...steady.slice(0, -1), steady[0] as Position] : ring;
  const pole = end[0] > first[0] ? 90 : -90;
  return [...steady, [end[0], pole], [first[0], pole], first];
}

const strip = (west: number): Ring => [
  [west, -90],
  [west + 360, -90],
  [west + 360, 90],
  [west, 90],
  [west, -90],
];

function cut(ring: Ring): MultiPolygon {
  const longitudes = ring.map(([longitude]) => longitude);
  const [west, east] = [Math.min(...longitudes), Math.max(...longitudes)];
  if (west >= -180 && east <= 180) return [[ring]];
  const turns = [-360, 0, 360].filter((turn) => west < turn + 180 && east > turn - 180);
  const pieces = turns.map((turn) =>
    intersection([ring], [strip(turn - 180)]).map((polygon) =>
      polygon.map((one) => one.map(([longitude, latitude]): Position => [longitude - turn, latitude])),
    ),
  );
  const [first, ...others] = pieces;
  return first ? (union(first, ...others) as MultiPolygon) : [];
}
