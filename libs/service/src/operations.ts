import type { Purges } from './purges.ts';

/** A service's own commands for operators, which work on its database outside its processes. */
export interface OwnOperations {
  /** Compares figures that should agree. `faults` are lines for people. */
  checkLedger?(progress: (accounts: number) => void): Promise<{ compared: string; faults: readonly string[] }>;
  /** The keys of the plans on sale. */
  planKeys?(): Promise<readonly string[]>;
  /** Creates the plans' prices at the payment provider, and returns their ids by plan key. A repetition changes nothing. */
  syncPrices?(): Promise<ReadonlyMap<string, string>>;
}

/** All commands for operators on a service's database. */
export interface Operations extends OwnOperations {
  /** By the names of the jobs that run the same purges. */
  readonly purges: Purges;
  /** The tables that each snapshot is read into, by the snapshot's name. */
  readonly projections: Readonly<Record<string, readonly string[]>>;
  close(): Promise<void>;
}
