import { type Account, Prisma } from '../generated/prisma/client.ts';
import type { AccountDatabase, Tx } from '../store.ts';

export interface NewAccount {
  readonly id: string;
  readonly name: string;
  readonly accountType: string;
  readonly ownerId: string;
  readonly now: Date;
}

/** An account, its owner's membership and its empty balance. */
export async function insertAccount(tx: Tx, account: NewAccount): Promise<void> {
  const { id, name, accountType, ownerId, now } = account;
  await tx.account.create({
    data: { id, name, account_type_key: accountType, created_at: now, updated_at: now },
  });
  await tx.membership.create({ data: { user_id: ownerId, account_id: id, role: 'owner', joined_at: now } });
  await tx.balance.create({ data: { account_id: id } });
}

export async function findAccount(tx: Pick<Tx, 'account'>, id: string) {
  return tx.account.findUniqueOrThrow({ where: { id } });
}

export async function findAccountOrNone(tx: Pick<Tx, 'account'>, id: string) {
  return tx.account.findUnique({ where: { id } });
}

/** Locks the account until the commit, so that decisions based on its row still hold when they are written. */
export async function lockAccount(tx: Tx, id: string): Promise<Account> {
  const [account] = await tx.$queryRaw<Account[]>`SELECT * FROM accounts WHERE id = ${id} FOR NO KEY UPDATE`;
  if (!account) throw new Error(`There is no account ${id}`);
  return account;
}

/** Takes a shared lock, so that the account cannot be closed before the commit. */
export async function holdAccount(tx: Tx, id: string): Promise<Account | undefined> {
  return (await tx.$queryRaw<Account[]>`SELECT * FROM accounts WHERE id = ${id} FOR SHARE`)[0];
}

export async function changeAccount(
  tx: Tx,
  id: string,
  change: { name?: string; require_mfa?: boolean; status?: 'closed' },
  now: Date,
) {
  return tx.account.update({ where: { id }, data: { ...change, updated_at: now } });
}

export async function deleteAccount(tx: Tx, id: string): Promise<void> {
  await tx.account.delete({ where: { id } });
}

export async function findPlans(database: Pick<AccountDatabase, 'prisma'>) {
  return database.prisma.plan.findMany({ orderBy: { position: 'asc' } });
}

export async function findPlan(tx: Pick<Tx, 'plan'>, key: string) {
  return tx.plan.findUniqueOrThrow({ where: { key } });
}

/** The most users that the plan of the account allows; null: any number. */
export async function maxUsersOf(tx: Pick<Tx, '$queryRaw'>, id: string): Promise<number | null> {
  const [plan] = await tx.$queryRaw<{ max_users: number | null }[]>`
    SELECT p.max_users FROM accounts a JOIN plans p ON p.key = a.plan_key WHERE a.id = ${id}`;
  return plan?.max_users ?? null;
}

export interface Limits {
  readonly limits_version: number;
  readonly plan_key: string;
  readonly users: number | null;
  readonly locations: number | null;
  readonly screens: number | null;
}

const limitColumns = Prisma.sql`
  a.limits_version, a.plan_key, p.max_users AS users, p.max_locations AS locations, p.max_screens AS screens`;

/**
 * Gives the account the plan of a subscription. Returns its new limits; undefined if it has the plan already, or the
 * account or the plan is unknown.
 */
export async function setPlan(
  tx: Tx,
  accountId: string,
  { key, subscriptionId }: { key: string; subscriptionId: string },
): Promise<Limits | undefined> {
  const [limits] = await tx.$queryRaw<Limits[]>`
    UPDATE accounts a SET plan_key = p.key, plan_subscription_id = ${subscriptionId}, limits_version = limits_version + 1
    FROM plans p WHERE p.key = ${key} AND a.id = ${accountId}
      AND (a.plan_key, coalesce(a.plan_subscription_id, '')) <> (p.key, ${subscriptionId})
    RETURNING ${limitColumns}`;
  return limits;
}

/** Gives the account the free plan, if its plan is that of the subscription. Returns its new limits. */
export async function endPlan(tx: Tx, accountId: string, subscriptionId: string): Promise<Limits | undefined> {
  const [limits] = await tx.$queryRaw<Limits[]>`
    UPDATE accounts a SET plan_key = p.key, plan_subscription_id = NULL, limits_version = limits_version + 1
    FROM plans p WHERE p.key = 'free' AND a.id = ${accountId} AND a.plan_subscription_id = ${subscriptionId}
    RETURNING ${limitColumns}`;
  return limits;
}

export async function findActiveAccountTypes(database: Pick<AccountDatabase, 'prisma'>) {
  return database.prisma.accountType.findMany({ where: { active: true }, orderBy: { position: 'asc' } });
}
