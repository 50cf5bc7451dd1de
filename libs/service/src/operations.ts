import type { Purges } from './purges.ts';

/** What a service alone knows how to do on its database, beside its processes. */
export interface OwnOperations {
  /** Compares what should agree; `faults` are lines for people. */
  checkLedger?(progress: (accounts: number) => void): Promise<{ compared: string; faults: readonly string[] }>;
  /** The plans that are sold. */
  planKeys?(): Promise<readonly string[]>;
  /** Makes their prices at the payment provider; answers its ids by plan key. Done again it changes nothing. */
  syncPrices?(): Promise<ReadonlyMap<string, string>>;
}

/** What is asked of a service's database beside its processes, by whoever looks after it. */
export interface Operations extends OwnOperations {
  /** By the names of the jobs that do the same in their turn. */
  readonly purges: Purges;
  /** The tables that each snapshot is read into, by its name. */
  readonly projections: Readonly<Record<string, readonly string[]>>;
  close(): Promise<void>;
}
