import type { AccountDatabase } from '../store.ts';
import type { Vault } from '../vault.ts';
import { totpPurpose } from './mfa-codes.ts';

const usersPerStatement = 500;

interface Sealed {
  readonly user_id: string;
  readonly secret: Uint8Array;
}

/**
 * Encrypts TOTP secrets with the vault's first key where another one was used. Returns how many there are. A secret that
 * changes meanwhile is left as it is: it was encrypted with the key of the process that changed it, and counts next time.
 */
export async function renewTotpSecrets(
  { sql }: AccountDatabase,
  vault: Vault,
  { dryRun, progress }: { readonly dryRun: boolean; readonly progress: (renewed: number) => void },
): Promise<number> {
  let [after, found] = ['', 0];
  for (;;) {
    const users = await sql.$queryRaw<Sealed[]>`
      SELECT user_id, secret FROM mfa_enrolments WHERE user_id > ${after} ORDER BY user_id LIMIT ${usersPerStatement}`;
    const last = users.at(-1);
    if (!last) return found;
    after = last.user_id;
    const old = users.filter(({ secret }) => !vault.isCurrent(secret));
    found += old.length;
    if (!dryRun && old.length > 0) {
      const renewed = old.map(({ user_id, secret }) => {
        const purpose = totpPurpose(user_id);
        return vault.encrypt(vault.decrypt(secret, purpose), purpose);
      });
      await sql.$executeRaw`
        UPDATE mfa_enrolments AS e SET secret = new.secret
        FROM unnest(${old.map(({ user_id }) => user_id)}::text[], ${old.map(({ secret }) => secret)}::bytea[], ${renewed}::bytea[])
          AS new (user_id, old_secret, secret)
        WHERE e.user_id = new.user_id AND e.secret = new.old_secret`;
    }
    progress(found);
  }
}
