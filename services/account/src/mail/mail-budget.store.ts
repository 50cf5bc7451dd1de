import type { Forgettable } from '@attribution/service';
import type { Tx } from '../store.ts';

type Queries = Pick<Tx, '$queryRaw'>;

export interface Budget {
  readonly sender: string;
  /** Empty for all recipients together. */
  readonly recipient: string;
  readonly hourly: number;
  readonly daily: number;
}

const after = (now: Date, hours: number) => new Date(now.getTime() + hours * 60 * 60 * 1000);

/**
 * Counts a message. Returns false, and counts nothing, when the budget is used up. The row is locked until the commit, so
 * that any number at once are counted one after the other, and a message that is not sent after all does not count.
 */
export async function countMessage(tx: Queries, budget: Budget, now: Date): Promise<boolean> {
  const { sender, recipient, hourly, daily } = budget;
  const counted = await tx.$queryRaw<unknown[]>`
    INSERT INTO mail_budgets AS b (sender, recipient, in_hour, hour_ends_at, in_day, day_ends_at)
    VALUES (${sender}, ${recipient}, 1, ${after(now, 1)}, 1, ${after(now, 24)})
    ON CONFLICT (sender, recipient) DO UPDATE SET
      in_hour = CASE WHEN b.hour_ends_at > ${now} THEN b.in_hour + 1 ELSE 1 END,
      hour_ends_at = CASE WHEN b.hour_ends_at > ${now} THEN b.hour_ends_at ELSE excluded.hour_ends_at END,
      in_day = CASE WHEN b.day_ends_at > ${now} THEN b.in_day + 1 ELSE 1 END,
      day_ends_at = CASE WHEN b.day_ends_at > ${now} THEN b.day_ends_at ELSE excluded.day_ends_at END
    WHERE (b.hour_ends_at <= ${now} OR b.in_hour < ${hourly}::int) AND (b.day_ends_at <= ${now} OR b.in_day < ${daily}::int)
    RETURNING 1`;
  return counted.length === 1;
}

/** When the next message may be sent, if not now. */
export async function findBudgetEnd(tx: Queries, budget: Budget, now: Date): Promise<Date | undefined> {
  const { sender, recipient, hourly, daily } = budget;
  const [used] = await tx.$queryRaw<{ ends_at: Date | null }[]>`
    SELECT greatest(
      CASE WHEN in_hour >= ${hourly}::int AND hour_ends_at > ${now} THEN hour_ends_at END,
      CASE WHEN in_day >= ${daily}::int AND day_ends_at > ${now} THEN day_ends_at END) AS ends_at
    FROM mail_budgets WHERE sender = ${sender} AND recipient = ${recipient}`;
  return used?.ends_at ?? undefined;
}

export const endedBudgets = { table: 'mail_budgets', condition: 'day_ends_at < $1' } satisfies Forgettable;
