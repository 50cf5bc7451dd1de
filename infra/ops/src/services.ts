import type { ServiceName } from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import type { Purge } from '@attribution/service';

/** What a service lets be asked of its database beside its processes. */
export interface Operations {
  /** By the names of the jobs. */
  readonly purges?: Readonly<Record<string, Purge>>;
  /** The tables that each walk is read into, by its name. */
  readonly projections?: Readonly<Record<string, readonly string[]>>;
  /** Compares what should agree; `faults` are lines for people. */
  checkLedger?(progress: (accounts: number) => void): Promise<{ compared: string; faults: readonly string[] }>;
  planKeys?(): Promise<readonly string[]>;
  syncPrices?(): Promise<ReadonlyMap<string, string>>;
  close(): Promise<void>;
}

interface Parts {
  readonly url: string;
  readonly clock: Clock;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** A service's code is loaded when it is asked for: that takes a second. */
interface Served {
  migrations(): Promise<URL>;
  open(parts: Parts): Promise<Operations>;
}

const served = {
  account: {
    migrations: async () => (await import('@attribution/account')).migrations,
    open: async (parts) => (await import('@attribution/account/operations')).openOperations(parts),
  },
  organization: {
    migrations: async () => (await import('@attribution/organization')).migrations,
    open: async (parts) => (await import('@attribution/organization/operations')).openOperations(parts),
  },
  campaign: {
    migrations: async () => (await import('@attribution/campaign')).migrations,
    open: async () => (await import('@attribution/campaign/operations')).openOperations(),
  },
  billing: {
    migrations: async () => (await import('@attribution/billing')).migrations,
    open: async (parts) => (await import('@attribution/billing/operations')).openOperations(parts),
  },
} satisfies Partial<Record<ServiceName, Served>>;

/** A service that has a database. */
export type ServedName = keyof typeof served;
export const servedNames = Object.keys(served) as ServedName[];
export const isServed = (name: string): name is ServedName => Object.hasOwn(served, name);
export const servedBy = (name: ServedName): Served => served[name];
