import type { Tx } from '../store.ts';

export interface QueuedMail {
  readonly id: bigint;
  readonly content: Uint8Array;
  readonly attempts: number;
  readonly created_at: Date;
}

export async function insertMail(tx: Tx, content: Uint8Array<ArrayBuffer>, now: Date): Promise<void> {
  await tx.queuedMail.create({ data: { content, created_at: now, next_attempt_at: now } });
}

/** Locks the next message that is due; others skip it. */
export async function lockDueMail(tx: Tx, now: Date): Promise<QueuedMail | undefined> {
  const [mail] = await tx.$queryRaw<QueuedMail[]>`
    SELECT id, content, attempts, created_at FROM queued_mails
    WHERE next_attempt_at <= ${now} ORDER BY next_attempt_at, id LIMIT 1 FOR UPDATE SKIP LOCKED`;
  return mail;
}

export async function deleteMail(tx: Tx, id: bigint): Promise<void> {
  await tx.queuedMail.delete({ where: { id } });
}

export async function postponeMail(tx: Tx, id: bigint, failure: { error: string; nextAttemptAt: Date }): Promise<void> {
  await tx.queuedMail.update({
    where: { id },
    data: { attempts: { increment: 1 }, last_error: failure.error, next_attempt_at: failure.nextAttemptAt },
  });
}
