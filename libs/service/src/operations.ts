import type { Follow } from './follow.ts';
import type { Purges } from './purges.ts';

/** A service's own commands for operators, which work on its database outside its processes. */
export interface OwnOperations {
  /** Compares figures that should agree. `faults` are lines for people. */
  checkLedger?(progress: (accounts: number) => void): Promise<{ compared: string; faults: readonly string[] }>;
  /** Takes over a maker's list of devices, the body of the Internal endpoint. Throws a RangeError for what is none. */
  importDevices?(list: unknown, options: { readonly dryRun: boolean }): Promise<object>;
  /** Devices behind the one with the id `after`, by id. */
  listDevices?(page: {
    readonly after: string | undefined;
    readonly limit: number;
  }): Promise<readonly { readonly id: string }[]>;
  /** Encrypts stored secrets with the first of `SECRET_KEYS` where an older one was used. Returns how many there are. */
  renewSecrets?(options: { readonly dryRun: boolean; readonly progress: (found: number) => void }): Promise<number>;
  /** The keys of the plans on sale. */
  planKeys?(): Promise<readonly string[]>;
  /** Creates the plans' prices at the payment provider, and returns their ids by plan key. A repetition changes nothing. */
  syncPrices?(): Promise<ReadonlyMap<string, string>>;
  /** Publishes the subscriptions once more, and returns how many. A `dryRun` only counts them. */
  announceSubscriptions?(options: { readonly dryRun: boolean }): Promise<number>;
}

/** All commands for operators on a service's database. */
export interface Operations extends OwnOperations {
  /** By the names of the jobs that run the same purges. */
  readonly purges: Purges;
  /** The tables that each snapshot is read into, by the snapshot's name. */
  readonly projections: Readonly<Record<string, Pick<Follow, 'tables' | 'kept'>>>;
  close(): Promise<void>;
}
