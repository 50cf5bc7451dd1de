import { type FactoryList, importDevices } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import { implement } from '@attribution/service';
import type { z } from 'zod';
import { hashOfCode } from '../claims/index.ts';
import type { DeviceDatabase } from '../store.ts';
import { decide } from './decide.ts';
import { findKnown, insertDevices, lockImports } from './import.store.ts';
import { type ListedDevice, readListed } from './item.ts';

interface Dependencies {
  readonly database: DeviceDatabase;
  readonly clock: Clock;
}

export type ImportAnswer = z.output<typeof importDevices.success.body>;

/** Takes over a factory list, in one transaction. With `keep: false` nothing stays of it. */
export async function importFactoryList(
  { database, clock }: Dependencies,
  { devices }: z.output<typeof FactoryList>,
  { keep = true }: { readonly keep?: boolean } = {},
): Promise<ImportAnswer> {
  const items = devices.map(readListed);
  const listed = items.filter((item): item is ListedDevice => typeof item !== 'string');
  return database.sqlTransaction(async (tx) => {
    await lockImports(tx);
    const { created, unchanged, rejected } = decide(items, await findKnown(tx, listed), hashOfCode);
    if (keep) await insertDevices(tx, created, clock.now());
    return { created: created.length, unchanged, rejected: [...rejected] };
  });
}

export const importDevicesEndpoint = (dependencies: Dependencies) =>
  implement(importDevices, async ({ body }) => importFactoryList(dependencies, body));
