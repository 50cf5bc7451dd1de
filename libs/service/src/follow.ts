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
  /**
   * The tables of which rows stay when the projection is emptied. `gone`: each row, marked as gone until the snapshot shows it
   * again. `all`: each row as it is, because the snapshot does not have everything that once was.
   */
  readonly kept: Readonly<Record<string, 'gone' | 'all'>>;
  readonly handlers: readonly EventHandler<SqlTransaction>[];
  /** Makes the job that reads the snapshot. `name` is the snapshot's name in the following service. */
  catchUp(name: string, owner: Client, dependencies: CatchUpDependencies): Job;
}

interface FollowingTable extends Pick<Projection<never>, 'handlers'> {
  readonly keepsGone?: boolean;
  /** Rows are only ever added, and mean what once was. */
  readonly isHistory?: true;
}

const keptOf = ({ keepsGone, isHistory }: FollowingTable) => (isHistory ? 'all' : keepsGone ? 'gone' : undefined);

/** Declares what is followed. `pages` reads a page of the owner's snapshot (cursor null: the first); `apply` writes one. */
export function follow<P extends Page>(options: {
  readonly from: ServiceName;
  readonly tables: Readonly<Record<string, FollowingTable>>;
  readonly pages: (owner: Client, cursor: string | null) => Promise<P>;
  readonly apply: (page: P) => readonly ReturnType<Projection<never>['of']>[];
}): Follow {
  const { from, tables, pages, apply } = options;
  return {
    from,
    tables: Object.keys(tables),
    kept: Object.fromEntries(
      Object.entries(tables).flatMap(([name, table]) => {
        const kept = keptOf(table);
        return kept ? [[name, kept]] : [];
      }),
    ),
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
