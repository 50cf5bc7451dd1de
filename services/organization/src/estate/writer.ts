import { administersGroup, type Principal } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { RequestContext } from '@attribution/http';
import type { NewEvent, Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import type { Committed, KeyedTransaction } from '@attribution/service';
import type { OrganizationDatabase } from '../store.ts';
import { refusalOf } from './constraints.ts';
import { type EstateRow, groupOf, type Kind } from './kind.ts';
import { type Fieldwise, merge } from './merge.ts';
import { scopeOf } from './scope.ts';
import { firstFields, tellGone, tellState } from './telling.ts';
import { deleteOne, insertRows, type LockMode, lockOne, updateRows } from './tree.store.ts';

export interface WriterDependencies {
  readonly database: OrganizationDatabase;
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** Who asks, and of which request. */
interface Asking {
  readonly caller: Principal;
  readonly request: Pick<RequestContext, 'traceparent'>;
}

/** What a row is made of besides the fields that every new one starts with. */
type Fields<Row> = Omit<Row, 'id' | 'account_id' | 'aggregate_version' | 'created_at' | 'updated_at'>;

/** Changes of the estate in one transaction, each told of by an event. */
export interface Change {
  readonly tx: Sql;
  readonly now: Date;
  /**
   * What something is put into; it stays there until the commit. Throws `unprocessable` where the caller sees no such
   * thing, `forbidden` where he may not set up what is in it. `where` names the field.
   */
  into<Row extends EstateRow>(kind: Kind<Row>, id: string, where: string): Promise<Row>;
  /** What is to be changed. Throws `not-found` and `forbidden`. */
  lock<Row extends EstateRow>(kind: Kind<Row>, id: string, mode?: LockMode): Promise<Row>;
  create<Row extends EstateRow, View extends object>(kind: Kind<Row, View>, fields: Fields<Row>): Promise<View>;
  update<Row extends EstateRow, View extends object>(
    kind: Kind<Row, View>,
    before: Row,
    fields: Fieldwise<Fields<Row>>,
  ): Promise<View>;
  remove<Row extends EstateRow>(kind: Kind<Row>, row: Row): Promise<void>;
}

/** Requires the right to set up what is in the group. */
function requireRight(caller: Principal, groupId: string): void {
  if (administersGroup(caller, groupId)) return;
  throw new Problem('forbidden', 'Only an owner, an admin or an admin of the group sets up what is in it.');
}

/** Runs work that changes the estate: all of it and its events, or nothing. */
export interface Writer {
  /** In the given transaction, which keeps the request's `Idempotency-Key` too. */
  <T>(
    asking: Asking & { readonly transaction: KeyedTransaction<Sql> },
    work: (change: Change) => Promise<T>,
  ): Promise<Committed<T>>;
  /** In a transaction of its own. */
  <T>(asking: Asking, work: (change: Change) => Promise<T>): Promise<T>;
}

export function createWriter({ database, outbox, clock }: WriterDependencies): Writer {
  return async function write<T>(
    { caller, request, transaction }: Asking & { readonly transaction?: KeyedTransaction<Sql> },
    work: (change: Change) => Promise<T>,
  ) {
    const scope = scopeOf(caller);
    const now = clock.now();
    const occasion = { now, traceparent: request.traceparent };
    const attempt = async (tx: Sql) => {
      const events: NewEvent[] = [];
      const result = await work({
        tx,
        now,
        async into(kind, id, where) {
          const row = await lockOne(tx, kind, scope, id, 'holding');
          if (!row) throw new Problem('unprocessable', `${where}: there is no ${kind.name} ${id} in this account.`);
          requireRight(caller, groupOf(row));
          return row;
        },
        async lock(kind, id, mode = 'changing') {
          const row = await lockOne(tx, kind, scope, id, mode);
          if (!row) throw Problem.notFound();
          requireRight(caller, groupOf(row));
          return row;
        },
        async create(kind, fields) {
          const row = { ...fields, ...firstFields(kind, scope.accountId, now) } as never;
          await insertRows(tx, kind, [row]);
          events.push(tellState(kind, 'created', row, occasion));
          return kind.view(row);
        },
        async update(kind, before, fields) {
          const version = { aggregate_version: before.aggregate_version + 1, updated_at: now };
          const row = { ...merge(before, fields as Fieldwise<typeof before>), ...version };
          await updateRows(tx, kind, [row]);
          events.push(tellState(kind, 'updated', row, occasion));
          return kind.view(row);
        },
        async remove(kind, row) {
          await deleteOne(tx, kind, row);
          events.push(tellGone(kind, row, occasion));
        },
      });
      await outbox.append(tx, ...events);
      return result;
    };
    try {
      return await (transaction ? transaction(attempt) : database.sqlTransaction(attempt));
    } catch (error) {
      throw refusalOf(error) ?? error;
    }
  };
}
