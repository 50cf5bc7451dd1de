import { NewFault } from '@attribution/contracts';
import { readItem } from '@attribution/http';
import type { z } from 'zod';

export type FaultItem = z.output<typeof NewFault>;

export interface Sorted {
  /** Each event id once: the first of a batch counts. */
  readonly items: readonly FaultItem[];
  readonly duplicates: number;
  readonly rejected: readonly { readonly index: number; readonly detail: string }[];
}

/** Judges the items of a batch, each by itself. Ids are compared in lower case. */
export function sortItems(values: readonly unknown[]): Sorted {
  const items = new Map<string, FaultItem>();
  const rejected: { index: number; detail: string }[] = [];
  let duplicates = 0;
  for (const [index, value] of values.entries()) {
    const read = readItem(NewFault, value);
    if ('fault' in read) {
      rejected.push({ index, detail: read.fault });
      continue;
    }
    const { item } = read;
    const id = item.event_id.toLowerCase();
    if (items.has(id)) duplicates++;
    else items.set(id, { ...item, event_id: id });
  }
  return { items: [...items.values()], duplicates, rejected };
}

/** What a fault is about: its code, and the component, if it names one. */
export const subjectOf = ({ code, component }: { readonly code: string; readonly component: string | null }): string =>
  JSON.stringify([code, component]);
