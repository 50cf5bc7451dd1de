import type { Sql } from '@attribution/database';
import type { Selectable } from 'kysely';
import type { Dispute } from '../generated/kysely/types.ts';
import { db } from '../store.ts';

export type DisputeRow = Readonly<Selectable<Dispute>>;

export async function findDispute(tx: Sql, id: string): Promise<DisputeRow | undefined> {
  return db(tx).selectFrom('disputes').selectAll().where('id', '=', id).executeTakeFirst();
}

/** Inserts a dispute, or changes its status. */
export async function putDispute(tx: Sql, row: DisputeRow): Promise<void> {
  await db(tx)
    .insertInto('disputes')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet({ status: row.status }))
    .execute();
}

/** Sets whether a dispute of the payment is open or lost. */
export async function markDisputed(tx: Sql, paymentId: string): Promise<void> {
  await db(tx)
    .updateTable('payments')
    .set(({ exists, selectFrom }) => ({
      disputed: exists(
        selectFrom('disputes').select('id').where('payment_id', '=', paymentId).where('status', '<>', 'won'),
      ).$castTo<boolean>(),
    }))
    .where('id', '=', paymentId)
    .execute();
}
