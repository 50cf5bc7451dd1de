import { AsyncLocalStorage } from 'node:async_hooks';
import type { SqlTransaction } from './sql.ts';

/** Goes along in the first transaction of some work. */
export interface TransactionHook {
  before(tx: SqlTransaction): Promise<void>;
  after(tx: SqlTransaction, result: unknown): Promise<void>;
}

const current = new AsyncLocalStorage<{ hook: TransactionHook | undefined }>();

/** Runs the work; the first transaction in it that commits has had the hook before and after its own statements. */
export function withTransactionHook<T>(hook: TransactionHook, work: () => Promise<T>): Promise<T> {
  return current.run({ hook }, work);
}

/** For `transaction`: runs one attempt with the hook of this work, if it has one that is not used up. */
export async function hooked<Tx extends SqlTransaction, T>(tx: Tx, work: (tx: Tx) => Promise<T>): Promise<T> {
  const hook = current.getStore()?.hook;
  if (!hook) return work(tx);
  await hook.before(tx);
  const result = await work(tx);
  await hook.after(tx, result);
  return result;
}

/** For `transaction`: it has committed. */
export function useUpHook(): void {
  const store = current.getStore();
  if (store) store.hook = undefined;
}
