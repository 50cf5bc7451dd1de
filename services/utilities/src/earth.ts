/** A point in degrees, WGS 84. */
export interface Point {
  readonly latitude: number;
  readonly longitude: number;
}

/** The radius of the sphere with the Earth's area, in metres, as H3 has it. */
export const earthRadius = 6_371_007.180_918_475;
export const radians = (degrees: number) => (degrees * Math.PI) / 180;

/** The great-circle distance in metres (haversine formula). */
export function distanceBetween(a: Point, b: Point): number {
  const [from, to] = [radians(a.latitude), radians(b.latitude)];
  const sin = (angle: number) => Math.sin(angle / 2) ** 2;
  const chord = sin(to - from) + Math.cos(from) * Math.cos(to) * sin(radians(b.longitude - a.longitude));
  return 2 * earthRadius * Math.asin(Math.min(1, Math.sqrt(chord)));
}

/** Of a sphere's cap with this radius, in square metres. */
export const areaWithin = (radius: number) => 2 * Math.PI * earthRadius ** 2 * (1 - Math.cos(radius / earthRadius));
