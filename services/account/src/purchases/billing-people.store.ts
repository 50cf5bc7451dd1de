import type { Sql } from '@attribution/database';
import { expandServices, type Membership, readServiceMap } from '../sessions/index.ts';

export interface Person {
  readonly email: string;
  readonly full_name: string;
  readonly account_name: string;
}

type Row = Person & Pick<Membership, 'role' | 'billing'> & { readonly services: unknown };

/** The active, verified users of an account with access to billing. Empty for a deleted account. */
export async function findBillingPeople(tx: Sql, accountId: string): Promise<readonly Person[]> {
  const rows = await findPeople(tx, accountId);
  // Access to services is stored as JSON, so it is evaluated by the same code as for tokens.
  return rows.filter((row) => expandServices({ ...row, services: readServiceMap(row.services) }).billing !== undefined);
}

/** The active, verified owner and admins of an account. Empty for a deleted account. */
export async function findAdministrators(tx: Sql, accountId: string): Promise<readonly Person[]> {
  return (await findPeople(tx, accountId)).filter(({ role }) => role !== 'member');
}

async function findPeople(tx: Sql, accountId: string): Promise<readonly Row[]> {
  return tx.$queryRaw<Row[]>`
    SELECT m.role, m.billing, m.services, u.email, u.full_name, a.name AS account_name
    FROM memberships AS m JOIN users AS u ON u.id = m.user_id JOIN accounts AS a ON a.id = m.account_id
    WHERE m.account_id = ${accountId} AND m.status = 'active'
      AND u.email_verified_at IS NOT NULL AND u.disabled_at IS NULL AND (m.role <> 'member' OR m.billing)
    ORDER BY m.user_id`;
}
