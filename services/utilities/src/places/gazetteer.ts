/** A file of GeoNames with one populated place a line, ordered by their population. */
export interface Gazetteer {
  /** The places, the largest first. Their positions in this order are their numbers. */
  readonly count: number;
  /** The columns of a place: https://download.geonames.org/export/dump/readme.txt */
  columnsOf(place: number): readonly string[];
}

/** The columns of the file that are used. */
export const column = {
  name: 1,
  asciiName: 2,
  alternateNames: 3,
  latitude: 4,
  longitude: 5,
  featureCode: 7,
  country: 8,
  admin1: 10,
  population: 14,
  timezone: 17,
} as const;

const newline = 0x0a;
const tab = 0x09;

/** The text is kept as bytes, as strings of all its lines would take several times as much memory. */
export function openGazetteer(text: Buffer): Gazetteer {
  const starts: number[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf(newline, start);
    starts.push(start);
    start = end < 0 ? text.length : end + 1;
  }
  const lines = Uint32Array.from([...byPopulation(text, starts)]);
  return {
    count: lines.length,
    columnsOf(place) {
      const start = lines[place] ?? 0;
      const end = text.indexOf(newline, start);
      return text.toString('utf8', start, end < 0 ? text.length : end).split('\t');
    },
  };
}

/** The starts of the lines, by population. Places of the same population stay in the file's order. */
function byPopulation(text: Buffer, starts: readonly number[]): readonly number[] {
  const population = (start: number) => {
    let from = start;
    for (let at = 0; at < column.population; at++) from = text.indexOf(tab, from) + 1;
    return Number(text.toString('latin1', from, text.indexOf(tab, from)));
  };
  return starts
    .map((start) => ({ start, population: population(start) }))
    .sort((a, b) => b.population - a.population)
    .map(({ start }) => start);
}
