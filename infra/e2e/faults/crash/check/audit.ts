import { type Envelope, estateKinds } from '@attribution/contracts';
import { type Databases, rowsOf, withClient } from './databases.ts';
import { followed } from './followed.ts';

type Moment = 'BEFORE' | 'AFTER';

type Watched = readonly [table: string, when: Moment, operations: string];

/** A projection also writes states that are older or already there, and these writes have no effect: hence AFTER. */
function projected(service: string): readonly Watched[] {
  const tables = followed.filter((one) => one.service === service);
  if (tables.length === 0) return [];
  return [
    ...tables.map(({ relation }) => [relation, 'AFTER', 'INSERT OR UPDATE'] as const),
    ['projection_tombstones', 'AFTER', 'INSERT'],
    ['projection_snapshots', 'AFTER', 'UPDATE'],
  ];
}

/**
 * The operations that each service's database records. AFTER records what was done. BEFORE also records attempts that
 * leave no trace, such as the insert of a row that already exists.
 */
const watched: Readonly<Record<string, readonly Watched[]>> = {
  account: [
    ['accounts', 'AFTER', 'INSERT OR DELETE'],
    ['users', 'AFTER', 'INSERT OR DELETE'],
    ['memberships', 'AFTER', 'INSERT OR DELETE'],
    ['balances', 'AFTER', 'INSERT OR DELETE'],
    ['ledger_entries', 'AFTER', 'INSERT OR DELETE'],
    ['settlements', 'BEFORE', 'INSERT'],
    ['audit_log', 'AFTER', 'INSERT'],
  ],
  organization: estateKinds.map((kind) => [`${kind}s`, 'AFTER', 'INSERT OR UPDATE OR DELETE']),
  campaign: [['campaigns', 'AFTER', 'INSERT OR DELETE']],
  billing: [
    ['customers', 'BEFORE', 'INSERT OR UPDATE OR DELETE'],
    ['money_entries', 'AFTER', 'INSERT OR DELETE'],
  ],
};
const everywhere = [
  ['outbox', 'AFTER', 'INSERT'],
  ['inbox', 'BEFORE', 'INSERT'],
  ['inbox', 'AFTER', 'INSERT'],
] as const;

/** A note is a row of the same transaction, so it exists if and only if the change that it describes was committed. */
const notebook = `
  CREATE SCHEMA audit;
  CREATE TABLE audit.notes (
    ordinal bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    relation text NOT NULL, moment text NOT NULL, operation text NOT NULL, row jsonb NOT NULL,
    xact xid8 NOT NULL DEFAULT pg_current_xact_id(), seen pg_snapshot NOT NULL DEFAULT pg_current_snapshot(),
    statement timestamptz NOT NULL DEFAULT statement_timestamp());
  CREATE FUNCTION audit.note() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
      INSERT INTO audit.notes (relation, moment, operation, row)
      VALUES (TG_TABLE_NAME, TG_WHEN, TG_OP, to_jsonb(coalesce(NEW, OLD)));
      RETURN coalesce(NEW, OLD);
    END $$;`;

/** Adds triggers to the databases that record the changes. To be called before anything is written. */
export async function installAudit(databases: Databases): Promise<void> {
  for (const [service, url] of Object.entries(databases)) {
    const triggers = [...everywhere, ...(watched[service] ?? []), ...projected(service)].map(
      ([table, when, operations]) =>
        `CREATE TRIGGER audit_${when.toLowerCase()} ${when} ${operations} ON ${table}
         FOR EACH ROW EXECUTE FUNCTION audit.note();`,
    );
    await withClient(url, (client) => client.query([notebook, ...triggers].join('\n')));
  }
}

/** An operation on a row, in a committed transaction. */
export interface Note {
  readonly ordinal: number;
  readonly relation: string;
  readonly moment: Moment;
  readonly operation: 'INSERT' | 'UPDATE' | 'DELETE';
  readonly row: Readonly<Record<string, unknown>>;
  readonly xact: bigint;
  /** When its statement began: unique among the statements of a transaction. */
  readonly statement: string;
  readonly seen: Snapshot;
}

/** A statement sees the transactions below `xmin`, and those below `xmax` that are not in progress. */
interface Snapshot {
  readonly xmin: bigint;
  readonly xmax: bigint;
  readonly inProgress: readonly bigint[];
}

/** An event that was appended to an outbox. */
export type Appended = Pick<Envelope, 'event_id' | 'type' | 'key' | 'data'> & {
  readonly service: string;
  readonly topic: string;
  readonly sequence: number;
  readonly note: Note;
};

/** Everything that a service's database recorded. */
export interface Audit {
  readonly notes: readonly Note[];
  /** In the order of the outbox. */
  readonly appended: readonly Appended[];
  /** The inbox rows, by event id: the effect of these events was committed. */
  readonly marked: ReadonlyMap<string, Note>;
  /** How many events were delivered again after they had taken effect. */
  readonly redelivered: number;
}

export async function readAudits(databases: Databases): Promise<ReadonlyMap<string, Audit>> {
  const read = Object.entries(databases).map(
    async ([service, url]) => [service, await readAudit(service, url)] as const,
  );
  return new Map(await Promise.all(read));
}

async function readAudit(service: string, url: string): Promise<Audit> {
  const rows = await rowsOf<Record<'ordinal' | 'xact' | 'seen', string> & Omit<Note, 'ordinal' | 'xact' | 'seen'>>(
    url,
    'SELECT ordinal::text, relation, moment, operation, row, xact::text, seen::text, statement::text FROM audit.notes ORDER BY ordinal',
  );
  const notes = rows.map((row) => ({
    ...row,
    ordinal: Number(row.ordinal),
    xact: BigInt(row.xact),
    seen: readSnapshot(row.seen),
  }));
  const appended = notes
    .filter(({ relation }) => relation === 'outbox')
    .map((note) => ({ ...(note.row as unknown as Omit<Appended, 'note' | 'service'>), service, note }))
    .sort((one, other) => one.sequence - other.sequence);
  const marks = notes.filter(({ relation }) => relation === 'inbox');
  const marked = marks.filter(({ moment }) => moment === 'AFTER');
  return {
    notes,
    appended,
    marked: new Map(marked.map((note) => [String(note.row.event_id), note])),
    redelivered: marks.length - 2 * marked.length,
  };
}

function readSnapshot(text: string): Snapshot {
  const [xmin = '', xmax = '', inProgress = ''] = text.split(':');
  return { xmin: BigInt(xmin), xmax: BigInt(xmax), inProgress: inProgress.split(',').filter(Boolean).map(BigInt) };
}

/**
 * Whether the first was committed before the second was done, or precedes it in the same transaction. Operations of one
 * statement count as simultaneous, so either order is right.
 */
export function isBefore(first: Note, second: Note): boolean {
  if (first.xact === second.xact) return first.ordinal < second.ordinal || first.statement === second.statement;
  const { xmin, xmax, inProgress } = second.seen;
  return first.xact < xmin || (first.xact < xmax && !inProgress.includes(first.xact));
}
