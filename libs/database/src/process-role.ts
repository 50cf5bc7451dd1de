import pg from 'pg';

/** The role of a service's processes, when it is not the one that owns the database. */
export interface ProcessRole {
  readonly name: string;
  /** Tables whose rows it may add and read, and neither change nor delete. */
  readonly appendOnly: readonly string[];
}

/** Who migrates writes here; processes only look. */
const records = '_prisma_migrations';

/** Gives the role rights on tables that the migrations will make, so that no process ever meets one without. */
export function rightsToCome({ name }: ProcessRole): string {
  const role = pg.escapeIdentifier(name);
  return `
    GRANT USAGE ON SCHEMA public TO ${role};
    ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO ${role};
    ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO ${role};`;
}

/**
 * Gives the role its rights on all tables that there are: to rows alone. It owns nothing, so it can drop no trigger and
 * empty no table. Sent as one message, it is one transaction: nobody sees a table with too many rights.
 */
export function rightsNow({ name, appendOnly }: ProcessRole): string {
  const role = pg.escapeIdentifier(name);
  const kept = appendOnly.map((table) => pg.escapeIdentifier(table)).join(', ');
  return `
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role};
    GRANT USAGE, SELECT ON ALL SEQUENCES IN SCHEMA public TO ${role};
    REVOKE INSERT, UPDATE, DELETE ON ${records} FROM ${role};
    ${kept && `REVOKE UPDATE, DELETE ON ${kept} FROM ${role};`}`;
}
