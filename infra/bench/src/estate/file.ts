import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@attribution/ids';
import type { BenchDatabase } from '../database.ts';

/** A chain of shops with 100,000 rows, as a file to import and as rows to COPY into the tables. */
export interface Chain {
  readonly rows: number;
  readonly csv: string;
  /** The input of COPY, table by table, parents first. */
  readonly tables: readonly { readonly name: string; readonly columns: string; readonly lines: readonly string[] }[];
}

const columns = {
  groups: 'id, account_id, external_id, name, created_at, updated_at',
  locations: 'id, account_id, group_id, external_id, name, timezone, created_at, updated_at',
  zones: 'id, account_id, group_id, location_id, external_id, name, kind, created_at, updated_at',
  screens:
    'id, account_id, group_id, location_id, zone_id, external_id, name, tags, width_px, height_px, orientation, accepted_formats, audio, created_at, updated_at',
};

/** Makes 100 groups, then locations with four zones of two or three screens each, until there are `rows` rows. */
export function makeChain(rows = 100_000): Chain {
  const account = newId('account');
  const csv = ['kind,external_id,parent,name,timezone,zone_kind,tags,width_px,height_px'];
  const lines: Record<keyof typeof columns, string[]> = { groups: [], locations: [], zones: [], screens: [] };
  const now = new Date().toISOString();
  const groups = Array.from({ length: 100 }, (_, n) => ({ id: newId('group'), ref: `G${n}` }));
  for (const { id, ref } of groups) {
    csv.push(`group,${ref},,Group ${ref},,,,,`);
    lines.groups.push([id, account, ref, `Group ${ref}`, now, now].join('\t'));
  }
  const full = () => csv.length > rows;
  for (let l = 0; !full(); l++) {
    const group = groups[l % groups.length] as (typeof groups)[number];
    const location = { id: newId('location'), ref: `L${l}` };
    csv.push(`location,${location.ref},${group.ref},Shop ${l},Europe/Zurich,,,,`);
    lines.locations.push(
      [location.id, account, group.id, location.ref, `Shop ${l}`, 'Europe/Zurich', now, now].join('\t'),
    );
    for (let z = 0; z < 4 && !full(); z++) {
      const zone = { id: newId('zone'), ref: `${location.ref}-${z}` };
      csv.push(`zone,${zone.ref},${location.ref},Zone ${z},,window,,,`);
      lines.zones.push([zone.id, account, group.id, location.id, zone.ref, `Zone ${z}`, 'window', now, now].join('\t'));
      for (let s = 0; s < 2 + (z % 2) && !full(); s++) {
        const ref = `${zone.ref}-${s}`;
        csv.push(`screen,${ref},${zone.ref},Screen ${s},,,"eye-level,window",1920,1080`);
        const formats = '{image/jpeg,image/png,video/mp4}';
        const own = [
          newId('screen'),
          account,
          group.id,
          location.id,
          zone.id,
          ref,
          `Screen ${s}`,
          '{eye-level,window}',
        ];
        lines.screens.push([...own, 1920, 1080, 'landscape', formats, false, now, now].join('\t'));
      }
    }
  }
  const tables = Object.entries(columns).map(([name, list]) => ({
    name,
    columns: list,
    lines: lines[name as keyof typeof lines],
  }));
  return { rows: csv.length - 1, csv: `${csv.join('\n')}\n`, tables };
}

/** Copies the chain's rows in one transaction, with all keys and indexes of the tables. Resolves to the seconds it took. */
export async function copyChain(database: BenchDatabase, { tables }: Chain): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), 'bench-copy-'));
  try {
    await chmod(directory, 0o755); // The server reads the files as another user.
    for (const { name, lines } of tables)
      await writeFile(join(directory, name), `${lines.join('\n')}\n`, { mode: 0o644 });
    const copies = tables.map(({ name, columns: list }) => `COPY ${name} (${list}) FROM '${join(directory, name)}'`);
    const started = performance.now();
    await database.sql(`BEGIN; ${copies.join('; ')}; COMMIT`);
    return (performance.now() - started) / 1_000;
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
