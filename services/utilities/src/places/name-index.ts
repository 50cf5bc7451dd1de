/** Sorted names of things, which are numbers. */
export interface NameIndex {
  /** The things with exactly this name, and the first `limit` with a name that begins with it; the smallest numbers first. */
  find(key: string, limit: number, accepts: (thing: number) => boolean): { exact: number[]; beginning: number[] };
}

/** The names are kept as bytes, one after the other: as strings they would take several times as much memory. */
export function indexNames(names: readonly { readonly name: string; readonly thing: number }[]): NameIndex {
  const sorted = [...names].sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.thing - b.thing));
  const text = Buffer.from(sorted.map(({ name }) => name).join(''), 'utf16le');
  const ends = new Uint32Array(sorted.length);
  let end = 0;
  for (const [position, { name }] of sorted.entries()) ends[position] = end += name.length;
  const things = Uint32Array.from(sorted, ({ thing }) => thing);
  const nameAt = (position: number) =>
    text.toString('utf16le', (position === 0 ? 0 : (ends[position - 1] ?? 0)) * 2, (ends[position] ?? 0) * 2);

  /** The first position of which this is true. It is true of all that follow. */
  function first(holds: (name: string) => boolean): number {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (holds(nameAt(middle))) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  return {
    find(key, limit, accepts) {
      const from = first((name) => name >= key);
      const longer = first((name) => name > key);
      const to = first((name) => name > key && !name.startsWith(key));
      const beginning: number[] = [];
      for (let position = longer; position < to; position++) {
        const thing = things[position] ?? 0;
        if (isAhead(beginning, thing, limit) && accepts(thing)) insert(beginning, thing, limit);
      }
      return { exact: [...new Set(things.subarray(from, longer))].filter(accepts), beginning };
    },
  };
}

const isAhead = (best: readonly number[], thing: number, limit: number) =>
  best.length < limit || thing < (best[limit - 1] ?? 0);

/** Keeps the `limit` smallest, each once. */
function insert(best: number[], thing: number, limit: number): void {
  if (best.includes(thing)) return;
  const at = best.findIndex((other) => other > thing);
  best.splice(at < 0 ? best.length : at, 0, thing);
  if (best.length > limit) best.pop();
}
