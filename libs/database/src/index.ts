export { withAdvisoryLock } from './advisory-lock.ts';
export * from './database.ts';
export {
  isForeignKeyViolation,
  isHeldUp,
  isSerializationFailure,
  isServerTrouble,
  isUniqueViolation,
  violatedConstraint,
} from './errors.ts';
export { inTwoLanes, pagesOf } from './id-pages.ts';
export { anyOf, kyselyOf } from './kysely.ts';
export { createLockKeeper } from './lock-keeper.ts';
export { EditedMigration, migrate, missingMigrations } from './migrate.ts';
export { type Migration, readMigrations } from './migration-files.ts';
export { type Listener, listenTo, notify } from './notifications.ts';
export * from './pages.ts';
export type { ProcessRole } from './process-role.ts';
export { inTransaction, type Sql, type SqlText, type SqlTransaction } from './sql.ts';
