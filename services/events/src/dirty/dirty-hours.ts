const hourMs = 3_600_000;

/** An hour of a location, by its first instant in milliseconds since the epoch. */
export interface DirtyHour {
  readonly location_id: string;
  readonly hour: number;
}

/** The hours that an interval touches, which is not empty. They are hours of the universal time: no zone can change them. */
export function hoursOf(location_id: string, start: number, end: number): DirtyHour[] {
  const hours: DirtyHour[] = [];
  for (let hour = Math.floor(start / hourMs) * hourMs; hour < end; hour += hourMs) hours.push({ location_id, hour });
  return hours;
}
