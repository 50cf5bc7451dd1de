import type { Sql } from '@attribution/database';
import { expandServices, type Membership, readServiceMap } from '../sessions/index.ts';

interface Person {
  readonly email: string;
  readonly full_name: string;
  readonly account_name: string;
}

type Row = Person & Pick<Membership, 'role' | 'billing'> & { readonly services: unknown };

/** Whom an account's bills concern: its active, verified users with access to billing. None of an account that is gone. */
export async function findBillingPeople(tx: Sql, accountId: string): Promise<readonly Person[]> {
  const rows = await tx.$queryRaw<Row[]>`
    SELECT m.role, m.billing, m.services, u.email, u.full_name, a.name AS account_name
    FROM memberships AS m JOIN users AS u ON u.id = m.user_id JOIN accounts AS a ON a.id = m.account_id
    WHERE m.account_id = ${accountId} AND m.status = 'active'
      AND u.email_verified_at IS NOT NULL AND u.disabled_at IS NULL
      AND (m.role <> 'member' OR m.billing)
    ORDER BY m.user_id`;
  // Which services somebody may enter is written in JSON: read where it is read for tokens.
  return rows.filter((row) => expandServices({ ...row, services: readServiceMap(row.services) }).billing !== undefined);
}
