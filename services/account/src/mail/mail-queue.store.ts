import type { Tx } from '../store.ts';

type Mails = Pick<Tx, 'queuedMail'>;

export interface QueuedMail {
  readonly id: bigint;
  readonly content: Uint8Array;
  readonly attempts: number;
  readonly created_at: Date;
}

/** With `drop`, sends the same statement and inserts nothing. */
export async function insertMail(
  tx: Pick<Tx, '$executeRaw'>,
  content: Uint8Array<ArrayBuffer>,
  { now, drop }: { now: Date; drop: boolean },
): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO queued_mails (content, created_at, next_attempt_at)
    SELECT ${content}::bytea, ${now}::timestamptz, ${now}::timestamptz WHERE NOT ${drop}::boolean`;
}

/** Takes the next due message and leases it until `leaseEnd`, so that no other worker takes it. */
export async function takeDueMail(
  tx: Pick<Tx, '$queryRaw'>,
  now: Date,
  leaseEnd: Date,
): Promise<QueuedMail | undefined> {
  const [mail] = await tx.$queryRaw<QueuedMail[]>`
    UPDATE queued_mails SET next_attempt_at = ${leaseEnd} WHERE id = (
      SELECT id FROM queued_mails
      WHERE next_attempt_at <= ${now} ORDER BY next_attempt_at, id LIMIT 1 FOR UPDATE SKIP LOCKED)
    RETURNING id, content, attempts, created_at`;
  return mail;
}

export async function deleteMail(tx: Mails, id: bigint): Promise<void> {
  await tx.queuedMail.delete({ where: { id } });
}

export async function postponeMail(
  tx: Mails,
  id: bigint,
  failure: { error: string; nextAttemptAt: Date },
): Promise<void> {
  await tx.queuedMail.update({
    where: { id },
    data: { attempts: { increment: 1 }, last_error: failure.error, next_attempt_at: failure.nextAttemptAt },
  });
}
