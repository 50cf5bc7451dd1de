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

/** Deadlock or serialization failure: the same transaction may well succeed when repeated. */
export function isSerializationFailure(error: unknown): boolean {
  return codesOf(error).some((code) => code === 'P2034' || code === '40001' || code === '40P01');
}

/** A unique constraint stood in the way. */
export function isUniqueViolation(error: unknown): boolean {
  return codesOf(error).some((code) => code === 'P2002' || code === '23505');
}

/** A foreign key stood in the way; PostgreSQL 18 has a code of its own for those with RESTRICT. */
export function isForeignKeyViolation(error: unknown): boolean {
  return codesOf(error).some((code) => code === 'P2003' || code === '23503' || code === '23001');
}

/** The name of the constraint that stood in the way, as Postgres tells it to `sql` and `sqlTransaction`. */
export function violatedConstraint(error: unknown): string | undefined {
  const { code, constraint } = (error ?? {}) as { code?: unknown; constraint?: unknown };
  return typeof code === 'string' && code.startsWith('23') && typeof constraint === 'string' ? constraint : undefined;
}

/**
 * SQLSTATEs by which a server says that it is not well, whatever it was asked: its connections (08), what it lacks (53, as
 * 53100 of a full disk), who ends it (57P), the machine below it (58), and that it only reads, as one that another has
 * taken over from (25006). 53400 is a limit that was set, for a statement.
 */
const unwell = /^(?:08...|53(?!400)...|57P..|58...|25006)$/;
/** The same as Prisma says it: it cannot be reached (P1001, P1002), it hung up (P1017), it has no connection left (P2037). */
const unwellByPrisma = new Set(['P1001', 'P1002', 'P1017', 'P2037']);

/**
 * The database's server or its disk was at fault, and not what was asked of it: the same may well succeed when that
 * is mended, and says nothing before.
 */
export function isServerTrouble(error: unknown): boolean {
  return codesOf(error).some((code) => unwell.test(code) || unwellByPrisma.has(code));
}

/**
 * Something waited longer than it may: a statement (57014), for a lock (55P03), for a connection of the pool (P2024), or
 * in Prisma's transaction (P2028). Often the fault of whoever held what it waited for, as a migration does.
 */
const tooLate = new Set(['57014', '55P03', 'P2024', 'P2028']);

/** It was held up, and may well succeed when what held it is gone. */
export function isHeldUp(error: unknown): boolean {
  return codesOf(error).some((code) => tooLate.has(code));
}
