import { administersGroup, type Principal } from '@attribution/auth';
import { type EstateKind, Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import type { RequestContext } from '@attribution/http';
import type { NewEvent, Outbox } from '@attribution/messaging';
import type { Clock } from '@attribution/runtime';
import { type Committed, changedFields, type NoteChanges, type WriteTransaction } from '@attribution/service';
import { requireRoom } from '../limits/index.ts';
import { refusalOf } from './constraints.ts';
import { changeEvent, deletionEvent, firstFields } from './events.ts';
import { type EstateRow, groupOf, type Kind } from './kind.ts';
import { type Fieldwise, merge } from './merge.ts';
import { scopeOf } from './scope.ts';
import { deleteOne, insertRows, type LockMode, lockOne, updateRows } from './tree.store.ts';

export interface WriterDependencies {
  readonly outbox: Outbox;
  readonly clock: Clock;
}

/** The caller and the request that a change is made for, and the request's transaction. */
interface ChangeRequest {
  readonly caller: Principal;
  readonly request: Pick<RequestContext, 'traceparent'>;
  readonly transaction: WriteTransaction<Sql>;
}

/** A row without the fields that the writer sets. */
type Fields<Row> = Omit<Row, 'id' | 'account_id' | 'aggregate_version' | 'created_at' | 'updated_at'>;

/** Changes the estate in one transaction, with an event for each change. */
export interface Change {
  readonly tx: Sql;
  readonly now: Date;
  /**
   * The parent of something new or moved, locked until the commit. Throws `unprocessable` if the caller does not see it,
   * and `forbidden` if the caller may not set up what is in it. `field` is the field that names it.
   */
  lockParent<Row extends EstateRow>(kind: Kind<Row>, id: string, field: string): Promise<Row>;
  /** The row to change, locked until the commit. Throws `not-found` and `forbidden`. */
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

/** Runs work that changes the estate. Its changes and their events are committed together or not at all. */
export type Writer = <T>(origin: ChangeRequest, work: (change: Change) => Promise<T>) => Promise<Committed<T>>;

export function createWriter({ outbox, clock }: WriterDependencies): Writer {
  return async function write<T>(
    { caller, request, transaction }: ChangeRequest,
    work: (change: Change) => Promise<T>,
  ) {
    const scope = scopeOf(caller);
    const now = clock.now();
    const context = { now, traceparent: request.traceparent };
    const run = async (tx: Sql, note: NoteChanges) => {
      const events: NewEvent[] = [];
      const created = new Set<EstateKind>();
      const result = await work({
        tx,
        now,
        async lockParent(kind, id, field) {
          const row = await lockOne(tx, kind, scope, id, 'holding');
          if (!row) throw new Problem('unprocessable', `${field}: there is no ${kind.name} ${id} in this account.`);
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
          created.add(kind.name);
          events.push(changeEvent(kind, 'created', row, context));
          return kind.view(row);
        },
        async update(kind, before, fields) {
          const changed = merge(before, fields as Fieldwise<typeof before>);
          const row = { ...changed, aggregate_version: before.aggregate_version + 1, updated_at: now };
          await updateRows(tx, kind, [row]);
          note({ changed: changedFields(before, changed) });
          events.push(changeEvent(kind, 'updated', row, context));
          return kind.view(row);
        },
        async remove(kind, row) {
          await deleteOne(tx, kind, row);
          events.push(deletionEvent(kind, row, context));
        },
      });
      await requireRoom(tx, scope.accountId, created);
      await outbox.append(tx, ...events);
      return result;
    };
    try {
      return await transaction(run);
    } catch (error) {
      throw refusalOf(error) ?? error;
    }
  };
}
