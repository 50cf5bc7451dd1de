import type { ListedDevice } from './item.ts';

/** What is known of devices whose serial, key or code is on the list. */
export interface Known {
  /** The key of the device with this serial that is not retired. */
  readonly keyOf: ReadonlyMap<string, string>;
  /** The serials of the devices, retired ones among them, that have this key. */
  readonly serialsOf: ReadonlyMap<string, readonly string[]>;
  /** The hashes of label codes that are alive. */
  readonly codes: ReadonlySet<string>;
}

export interface Decision {
  readonly created: readonly ListedDevice[];
  readonly unchanged: number;
  readonly rejected: readonly { readonly index: number; readonly detail: string }[];
}

/** Judges the items in their order, each as if those before it were there already. */
export function decide(
  items: readonly (ListedDevice | string)[],
  known: Known,
  hashOf: (code: string) => string,
): Decision {
  const keyOf = new Map(known.keyOf);
  const serialsOf = new Map(known.serialsOf);
  const codes = new Set(known.codes);
  const created: ListedDevice[] = [];
  const rejected: { index: number; detail: string }[] = [];
  let unchanged = 0;

  function refusalOf(item: ListedDevice): string | undefined {
    if (keyOf.has(item.serial)) return `serial: ${item.serial} is that of a device with another key.`;
    if (serialsOf.get(item.keyId)?.some((serial) => serial !== item.serial))
      return 'public_key: is that of another device.';
    if (item.claimCode !== null && codes.has(hashOf(item.claimCode))) return 'claim_code: is that of another device.';
    return undefined;
  }

  for (const [index, item] of items.entries()) {
    if (typeof item === 'string') {
      rejected.push({ index, detail: item });
    } else if (keyOf.get(item.serial) === item.keyId) {
      unchanged++;
    } else {
      const detail = refusalOf(item);
      if (detail === undefined) {
        created.push(item);
        keyOf.set(item.serial, item.keyId);
        serialsOf.set(item.keyId, [...(serialsOf.get(item.keyId) ?? []), item.serial]);
        if (item.claimCode !== null) codes.add(hashOf(item.claimCode));
      } else {
        rejected.push({ index, detail });
      }
    }
  }
  return { created, unchanged, rejected };
}
