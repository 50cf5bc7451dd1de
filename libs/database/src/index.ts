export { withAdvisoryLock } from './advisory-lock.ts';
export * from './database.ts';
export { isForeignKeyViolation, isHeldUp, isServerTrouble, isUniqueViolation, violatedConstraint } from './errors.ts';
export { createLockKeeper } from './lock-keeper.ts';
export { EditedMigration, migrate, missingMigrations } from './migrate.ts';
export { type Migration, readMigrations } from './migration-files.ts';
export { type Listener, listenTo, notify } from './notifications.ts';
export * from './pages.ts';
export { inTransaction, type Sql, type SqlTransaction } from './sql.ts';
