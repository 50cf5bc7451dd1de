/** Which things may have a text, by a hash of it. A few that do not have it are among them. */
export interface HashIndex {
  candidates(text: string): number[];
}

/** FNV-1a over UTF-16 units, 32 bits: http://www.isthe.com/chongo/tech/comp/fnv/ */
function hashOf(text: string): number {
  let hash = 0x81_1c_9d_c5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01_00_01_93);
  return hash >>> 0;
}

/** Collects the texts of things. It keeps eight bytes for each, whatever its length. */
export function collectHashes() {
  let pairs = new Float64Array(1 << 16);
  let count = 0;
  return {
    add(text: string, thing: number): void {
      if (count === pairs.length) {
        const larger = new Float64Array(count * 2);
        larger.set(pairs);
        pairs = larger;
      }
      pairs[count++] = hashOf(text) * thingSpan + thing;
    },
    index: () => indexOf(pairs.slice(0, count).sort()),
  };
}

/** Things are smaller numbers than this, so that a pair is a whole number that a float represents exactly. */
const thingSpan = 2 ** 21;

function indexOf(sorted: Float64Array): HashIndex {
  return {
    candidates(text) {
      const from = hashOf(text) * thingSpan;
      let [low, high] = [0, sorted.length];
      while (low < high) {
        const middle = (low + high) >>> 1;
        if ((sorted[middle] ?? 0) < from) low = middle + 1;
        else high = middle;
      }
      const found = new Set<number>();
      for (let at = low; (sorted[at] ?? Number.POSITIVE_INFINITY) < from + thingSpan; at++)
        found.add((sorted[at] ?? 0) - from);
      return [...found];
    },
  };
}
