import { newId } from '@attribution/contracts';
import type { AccountDatabase, Tx } from '../store.ts';

export interface Grant {
  readonly accountId: string;
  readonly amount: number;
  readonly description: string;
  /** A grant with a key that was posted before changes nothing. */
  readonly idempotencyKey: string;
  /** Lower burns first. */
  readonly priority: number;
  readonly expiresAt: Date | null;
  readonly now: Date;
}

/** Posts a grant: the balance, the ledger entry and what is left of it, under the balance's row lock. */
export async function postGrant(tx: Tx, grant: Grant): Promise<void> {
  const { accountId, amount, now, expiresAt } = grant;
  const [balance] = await tx.$queryRaw<{ posted: bigint; last_seq: bigint }[]>`
    SELECT posted, last_seq FROM balances WHERE account_id = ${accountId} FOR UPDATE`;
  if (!balance) throw new Error(`No balance of account ${accountId}`);
  const key = { account_id: accountId, idempotency_key: grant.idempotencyKey };
  const repeated = await tx.ledgerEntry.findUnique({ where: { account_id_idempotency_key: key } });
  if (repeated) return;
  const entry = {
    id: newId('ledger_entry'),
    seq: balance.last_seq + 1n,
    balance_after: balance.posted + BigInt(amount),
  };
  await tx.balance.update({
    where: { account_id: accountId },
    data: { posted: entry.balance_after, last_seq: entry.seq },
  });
  await tx.ledgerEntry.create({
    data: {
      ...entry,
      account_id: accountId,
      kind: 'grant',
      amount: BigInt(amount),
      description: grant.description,
      idempotency_key: grant.idempotencyKey,
      expires_at: expiresAt,
      created_at: now,
    },
  });
  await tx.tokenGrant.create({
    data: {
      entry_id: entry.id,
      account_id: accountId,
      amount: BigInt(amount),
      remaining: BigInt(amount),
      priority: grant.priority,
      expires_at: expiresAt,
      created_at: now,
    },
  });
}

/** Entries newest first, `limit` at most, below `beforeSeq`. */
export async function findEntries(
  database: AccountDatabase,
  accountId: string,
  limit: number,
  beforeSeq: number | undefined,
) {
  return database.prisma.ledgerEntry.findMany({
    where: { account_id: accountId, ...(beforeSeq !== undefined && { seq: { lt: BigInt(beforeSeq) } }) },
    orderBy: { seq: 'desc' },
    take: limit,
  });
}

/** The balance row. */
export async function findBalance(database: AccountDatabase, accountId: string) {
  return database.prisma.balance.findUnique({ where: { account_id: accountId } });
}

/** Grants with something left, in the order in which they burn. */
export async function findOpenGrants(database: AccountDatabase, accountId: string) {
  return database.prisma.tokenGrant.findMany({
    where: { account_id: accountId, remaining: { gt: 0n } },
    orderBy: [{ priority: 'asc' }, { expires_at: { sort: 'asc', nulls: 'last' } }, { created_at: 'asc' }],
  });
}
