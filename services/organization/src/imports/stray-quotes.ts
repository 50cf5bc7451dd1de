const [lf, cr, quote, comma] = [0x0a, 0x0d, 0x22, 0x2c];

/** Whether the bytes of a CSV record have a quote where RFC 4180 §2 (5 to 7) does not allow one. */
export function hasStrayQuote(raw: Uint8Array): boolean {
  let at: 'start' | 'plain' | 'quoted' | 'closed' = 'start';
  for (const [i, byte] of raw.entries()) {
    if (at === 'quoted') {
      if (byte === quote) at = 'closed';
    } else if (byte === comma || byte === lf) {
      at = 'start';
    } else if (byte === quote) {
      if (at === 'plain') return true;
      at = 'quoted'; // Opens the cell, or is the second of two quotes inside it.
    } else if (at === 'closed') {
      if (byte !== cr || raw[i + 1] !== lf) return true;
    } else {
      at = 'plain';
    }
  }
  return false;
}
