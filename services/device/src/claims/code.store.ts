import type { Sql } from '@attribution/database';
import { db } from '../store.ts';
import { hashOfCode, newScreenCode, screenCodeMs } from './code.ts';

/** The screen code of an unclaimed device that is locked: that of before while it lives, else a new one. */
export async function ensureScreenCode(
  tx: Sql,
  deviceId: string,
  now: Date,
): Promise<{ readonly code: string; readonly expires_at: Date }> {
  const codes = db(tx).selectFrom('claim_codes').select(['code', 'expires_at']);
  const known = await codes
    .where('device_id', '=', deviceId)
    .where('kind', '=', 'screen')
    .where('expires_at', '>', now)
    .executeTakeFirst();
  if (known?.code && known.expires_at) return { code: known.code, expires_at: known.expires_at };
  await db(tx).deleteFrom('claim_codes').where('device_id', '=', deviceId).where('kind', '=', 'screen').execute();
  const expires_at = new Date(now.getTime() + screenCodeMs);
  for (;;) {
    const code = newScreenCode();
    const row = { device_id: deviceId, kind: 'screen', code, code_hash: hashOfCode(code), expires_at } as const;
    const written = await db(tx)
      .insertInto('claim_codes')
      .values(row)
      .onConflict((another) => another.doNothing()) // Another device has this very code.
      .executeTakeFirst();
    if ((written.numInsertedOrUpdatedRows ?? 0n) > 0n) return { code, expires_at };
  }
}

/** Ends all codes of a device. */
export async function endCodes(tx: Sql, deviceId: string, now: Date): Promise<void> {
  await db(tx)
    .updateTable('claim_codes')
    .set({ ended_at: now })
    .where('device_id', '=', deviceId)
    .where('ended_at', 'is', null)
    .execute();
}

/** A device that a code is, or was, of. */
export interface CodeOwner {
  readonly device_id: string;
  readonly account_id: string | null;
  /** Whether the device can be claimed by it. */
  readonly alive: boolean;
}

/** The devices that a code is or was of; the one that it is alive for first. */
export async function findOwners(tx: Sql, code: string, now: Date): Promise<CodeOwner[]> {
  return tx.$queryRaw<CodeOwner[]>`
    SELECT c.device_id, d.account_id,
      c.ended_at IS NULL AND (c.expires_at IS NULL OR c.expires_at > ${now}) AND d.status = 'manufactured' AS alive
    FROM claim_codes c JOIN devices d ON d.id = c.device_id
    WHERE c.code_hash = ${hashOfCode(code)} ORDER BY alive DESC, c.device_id`;
}
