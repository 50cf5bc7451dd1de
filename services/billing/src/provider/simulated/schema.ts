/** Objects are stored as JSON in Stripe's format, with the keys to find them in columns. */
export const schema = `
  CREATE TABLE IF NOT EXISTS objects (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    owner TEXT,
    due_at INTEGER,
    data TEXT NOT NULL
  ) STRICT;
  CREATE INDEX IF NOT EXISTS objects_owner ON objects (kind, owner) WHERE owner IS NOT NULL;
  CREATE INDEX IF NOT EXISTS objects_due ON objects (due_at) WHERE due_at IS NOT NULL;
  CREATE TABLE IF NOT EXISTS events (
    sequence INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    created INTEGER NOT NULL,
    body TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_at INTEGER
  ) STRICT;
  CREATE INDEX IF NOT EXISTS events_next ON events (next_at) WHERE next_at IS NOT NULL;
  CREATE INDEX IF NOT EXISTS events_created ON events (created);
  CREATE TABLE IF NOT EXISTS keys (
    key TEXT PRIMARY KEY,
    hash TEXT NOT NULL,
    answer TEXT NOT NULL,
    created INTEGER NOT NULL
  ) STRICT;
`;

/** JSON with sorted object keys, so that equal values give equal text. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
