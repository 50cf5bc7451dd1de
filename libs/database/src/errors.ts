/** The SQLSTATE of an error of pg or of Prisma, or Prisma's own code. */
function codesOf(error: unknown): string[] {
  const codes: string[] = [];
  for (let at = error, depth = 0; at && typeof at === 'object' && depth < 5; depth++) {
    const { code, originalCode, cause, meta } = at as Record<string, unknown>;
    for (const value of [code, originalCode]) if (typeof value === 'string') codes.push(value);
    at = cause ?? (meta as { driverAdapterError?: unknown } | undefined)?.driverAdapterError;
  }
  return codes;
}

/** A deadlock or a serialization failure: the same transaction can succeed when it is repeated. */
export function isSerializationFailure(error: unknown): boolean {
  return codesOf(error).some((code) => code === 'P2034' || code === '40001' || code === '40P01');
}

/** A unique constraint was violated. */
export function isUniqueViolation(error: unknown): boolean {
  return codesOf(error).some((code) => code === 'P2002' || code === '23505');
}

/** A foreign key was violated. PostgreSQL 18 has a separate code for those with RESTRICT. */
export function isForeignKeyViolation(error: unknown): boolean {
  return codesOf(error).some((code) => code === 'P2003' || code === '23503' || code === '23001');
}

/** The name of the violated constraint, which errors of `sql` and `sqlTransaction` have. */
export function violatedConstraint(error: unknown): string | undefined {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown };
  return typeof code === 'string' && code.startsWith('23') && typeof constraint === 'string' ? constraint : undefined;
}

/**
 * SQLSTATEs of a server in trouble, whatever the statement: failed connections (08), insufficient resources (53, such as
 * 53100 for a full disk), a shutdown (57P), errors of its machine (58), and a server that is read-only, for example after
 * another was promoted (25006). 53400 is excluded, as it is a configured limit for a statement.
 */
const serverTrouble = /^(?:08...|53(?!400)...|57P..|58...|25006)$/;
/** Prisma's codes for the same: unreachable (P1001, P1002), connection closed (P1017), too many connections (P2037). */
const serverTroubleOfPrisma = new Set(['P1001', 'P1002', 'P1017', 'P2037']);

/**
 * The database server or its disk is in trouble, and not the statement at fault: the same statement can succeed once the
 * server has recovered.
 */
export function isServerTrouble(error: unknown): boolean {
  return codesOf(error).some((code) => serverTrouble.test(code) || serverTroubleOfPrisma.has(code));
}

/**
 * Codes of timeouts: of a statement (57014), of a wait for a lock (55P03) or for a connection of the pool (P2024), of a
 * Prisma transaction (P2028). The cause is often whatever held the lock, such as a migration.
 */
const timeouts = new Set(['57014', '55P03', 'P2024', 'P2028']);

/** A timeout: the same can succeed once the cause of the wait is over. */
export function isHeldUp(error: unknown): boolean {
  return codesOf(error).some((code) => timeouts.has(code));
}
