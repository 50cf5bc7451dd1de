import type { TokenBooks } from './check.store.ts';

const tokens = (amount: bigint) => `${amount} tokens`;

/** The inconsistencies within the rows of one account, described for an operator. ADR 13 lists the guarantees. */
export function compareTokenBooks(books: TokenBooks): string[] {
  const { posted, held, unspent, last_seq, entries, entries_tokens, remaining, pending } = books;
  const { debt_tokens, debts_paid } = books;
  if (posted === null) return ['it has no balance'];
  const found: string[] = [];
  if (entries_tokens !== posted)
    found.push(`the balance says ${tokens(posted)}, its ledger entries ${tokens(entries_tokens)}`);
  if (entries !== last_seq) found.push(`the ledger has ${entries} entries, the latest is number ${last_seq}`);
  if (books.stray_entries > 0)
    found.push(`${books.stray_entries} ledger entries do not follow from the one before them`);
  if (remaining !== posted)
    found.push(`the balance says ${tokens(posted)}, of the grants ${tokens(remaining)} are left`);
  if (remaining !== unspent) found.push(`the balance says ${tokens(unspent)} unspent, its grants ${tokens(remaining)}`);
  if (books.stray_grants > 0)
    found.push(`${books.stray_grants} grants are not what their entry gave or what their holds reserve`);
  if (pending !== held) found.push(`the balance says ${tokens(held)} held, the pending holds ${tokens(pending)}`);
  if (debt_tokens !== debts_paid)
    found.push(`of the debts ${tokens(debts_paid)} are paid, their ledger entries say ${tokens(debt_tokens)}`);
  if (held > posted) found.push(`${tokens(held)} are held of ${tokens(posted)}`);
  return found;
}
