import type { Client, EventType, ServiceName } from '@attribution/contracts';
import type { SqlTransaction } from '@attribution/database';
import { type CatchUpDependencies, catchUp, type EventHandler, type Projection } from '@attribution/messaging';
import type { Job } from './jobs.ts';

interface Page {
  /** Null on the last page. */
  readonly next_cursor: string | null;
}

/** Projections of another service: a catch-up reads its snapshot first, and events keep the tables current. */
export interface Follow {
  readonly from: ServiceName;
  readonly tables: readonly string[];
  readonly handlers: readonly EventHandler<SqlTransaction>[];
  /** Makes the job that reads the snapshot. `name` is the snapshot's name in the following service. */
  catchUp(name: string, owner: Client, dependencies: CatchUpDependencies): Job;
}

/** Declares what is followed. `pages` reads a page of the owner's snapshot (cursor null: the first); `apply` writes one. */
export function follow<P extends Page>(options: {
  readonly from: ServiceName;
  readonly tables: Readonly<Record<string, Pick<Projection<never>, 'handlers'>>>;
  readonly pages: (owner: Client, cursor: string | null) => Promise<P>;
  readonly apply: (page: P) => readonly ReturnType<Projection<never>['of']>[];
}): Follow {
  const { from, tables, pages, apply } = options;
  return {
    from,
    tables: Object.keys(tables),
    handlers: Object.values(tables).flatMap(({ handlers }) => handlers),
    catchUp: (name, owner, dependencies) =>
      catchUp({ ...dependencies, name, pages: (cursor) => pages(owner, cursor), apply }),
  };
}

type Follows = Readonly<Record<string, Follow>>;

export const followedEvents = (follows: Follows): EventType[] =>
  Object.values(follows).flatMap(({ handlers }) => handlers.map(({ event }) => event));

/** The catch-up jobs of everything that a service follows. */
export const followJobs = (
  follows: Follows,
  {
    clients,
    ...dependencies
  }: CatchUpDependencies & { readonly clients: Readonly<Partial<Record<ServiceName, Client>>> },
): Job[] =>
  Object.entries(follows).flatMap(([name, { from, catchUp: job }]) => {
    const owner = clients[from];
    return owner ? [job(name, owner, dependencies)] : [];
  });
