const dayparts = [
  ['night', 6],
  ['morning', 10],
  ['midday', 14],
  ['afternoon', 18],
  ['evening', 22],
  ['late', 24],
] as const;

/** The part of the day that a local hour (0 to 23) is in. */
export const daypartOf = (hour: number) => (dayparts.find(([, end]) => hour < end) ?? dayparts[0])[0];
