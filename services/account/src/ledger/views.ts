import type { LedgerEntry, TokenHold } from '@attribution/contracts';
import type { z } from 'zod';
import type { HoldRow } from './hold.store.ts';
import type { EntryRow } from './ledger.store.ts';

export function viewEntry(row: EntryRow): z.output<typeof LedgerEntry> {
  return {
    id: row.id,
    account_id: row.account_id,
    seq: Number(row.seq),
    kind: row.kind,
    amount: Number(row.amount),
    balance_after: Number(row.balance_after),
    description: row.description,
    expires_at: row.expires_at?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
  };
}

export function viewHold(row: HoldRow): z.output<typeof TokenHold> {
  return {
    id: row.id,
    account_id: row.account_id,
    amount: Number(row.amount),
    captured_amount: Number(row.captured_amount),
    status: row.status,
    description: row.description,
    expires_at: row.expires_at.toISOString(),
    created_at: row.created_at.toISOString(),
    resolved_at: row.resolved_at?.toISOString() ?? null,
  };
}
