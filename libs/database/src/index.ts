export { withAdvisoryLock } from './advisory-lock.ts';
export * from './database.ts';
export * from './embedded-postgres.ts';
export { createLockKeeper } from './lock-keeper.ts';
export * from './migrate.ts';
export * from './pages.ts';
export type { Sql, SqlTransaction } from './sql.ts';
export { withTransactionHook } from './transaction-hook.ts';
