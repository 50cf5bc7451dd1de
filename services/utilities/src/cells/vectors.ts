import { earthRadius, type Point, radians } from '../earth.ts';

/** A unit vector from the Earth's centre. */
export type Vector = readonly [number, number, number];

export function vectorOf({ latitude, longitude }: Point): Vector {
  const [up, around] = [radians(latitude), radians(longitude)];
  return [Math.cos(up) * Math.cos(around), Math.cos(up) * Math.sin(around), Math.sin(up)];
}

const dot = (a: Vector, b: Vector) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const minus = (a: Vector, b: Vector): Vector => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const cross = (a: Vector, b: Vector): Vector => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
];

/**
 * The area of a spherical triangle in square metres, positive if it is counter-clockwise seen from above (Eriksson, "On the
 * measure of solid angles", 1990). Differences of the corners keep its precision for small triangles.
 */
function triangleArea(a: Vector, b: Vector, c: Vector): number {
  const volume = dot(a, cross(minus(b, a), minus(c, a)));
  return 2 * Math.atan2(volume, 1 + dot(a, b) + dot(b, c) + dot(c, a)) * earthRadius ** 2;
}

/** The area inside a closed ring of great-circle arcs, in square metres, positive if it is counter-clockwise. */
export function ringArea(ring: readonly Vector[]): number {
  const [apex, ...rest] = ring;
  if (!apex) return 0;
  return rest.slice(1).reduce((area, corner, at) => area + triangleArea(apex, rest[at] ?? apex, corner), 0);
}
