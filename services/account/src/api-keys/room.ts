import { Problem } from '@attribution/contracts';
import type { Tx } from '../store.ts';
import { countLiveKeys } from './api-key.store.ts';

/** Keys of an account that are neither revoked nor expired (decision 44). */
const mostLiveKeys = 1_000;

/**
 * Throws if the account has as many live keys as it may. Call it in the transaction that makes one, or lets one live again;
 * a rotation has no 422.
 */
export async function requireKeyRoom(
  tx: Tx,
  { accountId, now }: { readonly accountId: string; readonly now: Date },
  kind: 'unprocessable' | 'conflict' = 'unprocessable',
): Promise<void> {
  if ((await countLiveKeys(tx, accountId, now)) >= mostLiveKeys)
    throw new Problem(kind, `An account has at most ${mostLiveKeys} live keys.`);
}
