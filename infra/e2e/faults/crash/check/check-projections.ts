import { isBefore, type Note } from './audit.ts';
import { type Audits, allAppended } from './check-events.ts';
import { type Databases, rowsOf } from './databases.ts';
import { changeOf, type Data, type Projection, projections } from './effects.ts';
import { indexBy, type Tally } from './tally.ts';

/**
 * A projection writes each state once, or skips it because it has a newer one or knows that the resource was deleted. In
 * the end it contains what Organization contains. Returns the number of states that were published.
 */
export async function checkProjections(audits: Audits, databases: Databases, tally: Tally): Promise<number> {
  let expected = 0;
  for (const one of projections) {
    expected += checkStates(one, audits, tally);
    await checkTable(one, databases, tally);
  }
  return expected;
}

/** A projection may keep what was deleted, marked so. Its tombstone is the effect of the deletion. */
const isGone = ({ gone }: { readonly gone?: unknown }) => gone === true;

const versionOf = ({ row }: Note) => Number(row.aggregate_version);

function checkStates({ service, relation, states }: Projection, audits: Audits, tally: Tally): number {
  const { notes = [], marked } = audits.get(service) ?? {};
  const of = (name: string) => notes.filter((note) => note.relation === name);
  const pages = new Set(of('projection_snapshots').map(({ xact }) => xact));
  const written = indexBy(
    of(relation).filter(({ row }) => !isGone(row)),
    ({ row }) => String(row.id),
  );
  const gone = indexBy(of('projection_tombstones'), ({ row }) => String(row.id));
  const events = allAppended(audits).filter(({ type }) => states.includes(type));
  for (const { type, data, event_id } of events) {
    const id = changeOf(type, data as Data)?.id ?? '';
    const version = Number((data as Data).aggregate_version);
    const what = `${type} ${event_id} (${id}, version ${version}) in ${relation} of ${service}`;
    const mark = marked?.get(event_id);
    const own = (written.get(id) ?? []).filter((note) => versionOf(note) === version);
    if (own.length > 1) tally.doubled.push(`${own.length} × ${what}`);
    for (const { xact } of own)
      if (xact !== mark?.xact && !pages.has(xact))
        tally.torn.push(`${what} is neither in the transaction of its inbox row nor in that of a snapshot page`);
    const enough = [...(written.get(id) ?? []).filter((note) => versionOf(note) >= version), ...(gone.get(id) ?? [])];
    // A snapshot page may be committed between the insert of the inbox row and the write, which then skips newer rows.
    if (!mark || !enough.some((note) => note.xact === mark.xact || pages.has(note.xact) || isBefore(note, mark)))
      tally.lost.push(`No ${what}${mark ? ', though it is in the inbox' : ''}`);
  }
  const versions = new Set(
    events.map(({ type, data }) => `${changeOf(type, data as Data)?.id} ${data.aggregate_version}`),
  );
  for (const note of [...written.values()].flat())
    if (!versions.has(`${note.row.id} ${versionOf(note)}`))
      tally.torn.push(
        `${relation} of ${service} has had version ${versionOf(note)} of ${note.row.id}, for which there is no event`,
      );
  return events.length;
}

interface Row {
  readonly id: string;
  readonly account_id: string;
  readonly aggregate_version: number;
  readonly gone?: boolean;
}

async function checkTable({ service, relation, kind }: Projection, databases: Databases, tally: Tally): Promise<void> {
  const read = async (name: string, table: string) => {
    const rows = await rowsOf<Row>(databases[name] ?? '', `SELECT * FROM ${table}`);
    const there = rows.filter((row) => !isGone(row));
    return new Set(there.map((row) => `${row.account_id} ${row.id}, version ${row.aggregate_version}`));
  };
  const [known, there] = [await read(service, relation), await read('organization', `${kind}s`)];
  for (const row of there.difference(known)) tally.lost.push(`${relation} of ${service} has no ${row}`);
  for (const row of known.difference(there)) tally.lost.push(`${relation} of ${service} still has ${row}`);
}
