import type { Principal } from '@attribution/auth';
import { Problem } from '@attribution/contracts';
import type { Sql } from '@attribution/database';
import { adLibraries, lockLibrary } from '../libraries/index.ts';

/** Throws `unprocessable` unless the caller sees the library, which from then on is not deleted until the commit. */
export async function requireLibrary(tx: Sql, caller: Principal, id: string): Promise<void> {
  if (await lockLibrary(tx, adLibraries, caller, id, 'use')) return;
  throw new Problem('unprocessable', `body.ad_library_id: there is no library ${id} in this account.`);
}
