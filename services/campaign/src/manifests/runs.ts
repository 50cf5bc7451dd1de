import type { LocalHour } from './local-time.ts';

/** Consecutive hours with the same value. */
export interface Run<T> {
  readonly value: T;
  readonly start: number;
  readonly end: number;
  /** Whether the value is the same in the hour that follows the last one. */
  readonly goesOn: boolean;
}

/** The runs of a value over some hours, where the last hour only ends the others. Values are the same if their keys are. */
export function runsOf<T>(
  hours: readonly LocalHour[],
  valueAt: (index: number) => T,
  keyOf: (value: T) => string,
): readonly Run<T>[] {
  const values = hours.map((_, index) => valueAt(index));
  const keys = values.map(keyOf);
  const runs: Run<T>[] = [];
  for (let first = 0, next = 1; first < hours.length - 1; first = next, next++) {
    while (next < hours.length - 1 && keys[next] === keys[first]) next++;
    const [start, end] = [hours[first]?.start as number, hours[next]?.start as number];
    runs.push({ value: values[first] as T, start, end, goesOn: keys[next] === keys[first] });
  }
  return runs;
}
