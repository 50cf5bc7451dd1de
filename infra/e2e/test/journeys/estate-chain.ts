import {
  createInvitation,
  createLocation,
  type EstateMedia,
  exportEstate,
  listGroups,
  listLocations,
  matchScreens,
} from '@attribution/contracts';
import { eventually } from '@attribution/testing';
import { expect, test } from '@jest/globals';
import { buy } from '../support-billing.ts';
import { untilImported, upload } from '../support-estate.ts';
import { newMember, signIn } from '../support-people.ts';
import { newEmail, newOwner, type Platform } from '../support-platform.ts';

/** An estate that is imported from files: with 500 locations, the rows need several transactions. */
export function chainJourneys(on: () => Platform, { locations = 2_000 } = {}): void {
  const size = { groups: 20, locations, zones: 3, screens: 2 };
  /** There are a hundred pages, so that some of the concurrent inserts fall between two of them. */
  const pageSize = locations / 100;
  const count = {
    screens: size.locations * size.zones * size.screens,
    rows: size.groups + size.locations * (1 + size.zones * (1 + size.screens)),
  };

  /** A chain of locations, each with zones that have screens. */
  function chainFile(): string {
    const lines = ['kind,external_id,parent,name,timezone,zone_kind,tags,width_px,height_px'];
    for (let g = 1; g <= size.groups; g++) lines.push(`group,R${g},,Region ${g},,,,,`);
    for (let l = 1; l <= size.locations; l++) {
      lines.push(`location,L${l},R${(l % size.groups) + 1},"Street ${l}, town",Europe/Zurich,,,,`);
      for (let z = 1; z <= size.zones; z++) {
        lines.push(`zone,L${l}Z${z},L${l},Zone ${z},,window,,,`);
        for (let s = 1; s <= size.screens; s++)
          lines.push(`screen,L${l}Z${z}S${s},L${l}Z${z},Screen ${s},,,"window,floor-${z}",1920,1080`);
      }
    }
    return `${lines.join('\n')}\n`;
  }

  const same = (rows: number) => ({ total: rows, created: 0, updated: 0, unchanged: rows, refused: 0 });

  test(`a chain of ${locations} locations is imported, listed whole while others insert, exported, and imported again unchanged`, async () => {
    const { client, email, account_id } = await newOwner(on());
    await buy(client, 'enterprise');
    await eventually(async () => {
      const known = `SELECT 1 FROM account_limits WHERE account_id = '${account_id}'`;
      expect(await on().rows('organization', known)).toHaveLength(1);
    });
    const bring = async (content: string, media?: EstateMedia) => {
      const job = await upload(client, content, media);
      expect(job.status).toBe('queued');
      return untilImported(client, job.id, 300_000);
    };

    expect(await bring(chainFile())).toMatchObject({
      status: 'succeeded',
      progress: 100,
      rows: { total: count.rows, created: count.rows, updated: 0, unchanged: 0, refused: 0 },
    });
    expect((await client.call(matchScreens, { query: { tags: 'floor-2', limit: 1 } })).body.total).toBe(
      count.screens / size.zones,
    );
    expect((await client.call(matchScreens, { query: { limit: 1 } })).body.groups).toHaveLength(size.groups);

    const there = await on().rows<{ id: string }>(
      'organization',
      `SELECT id FROM locations WHERE account_id = '${account_id}'`,
    );
    expect(there).toHaveLength(size.locations);
    const { body: groups } = await client.call(listGroups);
    const group_id = groups.entries.at(-1)?.id ?? '';
    const other = await signIn(on(), email);
    const inserted: string[] = [];
    let listing = true;
    const inserting = (async () => {
      for (let n = 1; listing; n++) {
        const body = { group_id, name: `New ${n}`, timezone: 'Europe/Zurich' };
        inserted.push((await other.call(createLocation, { body })).body.id);
      }
    })();
    const listed: string[] = [];
    const insertedBetween = new Set<number>();
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { body }: { body: { entries: { id: string }[]; next_cursor: string | null } } = await client.call(
        listLocations,
        { query: { limit: pageSize, cursor } },
      );
      listed.push(...body.entries.map(({ id }) => id));
      insertedBetween.add(inserted.length);
      cursor = listed.length > size.locations ? null : body.next_cursor; // The concurrent inserts may keep the list from ending.
    }
    listing = false;
    await inserting;
    expect(insertedBetween.size).toBeGreaterThan(10);
    expect(new Set(listed).size).toBe(listed.length);
    expect(new Set(there.map(({ id }) => id)).difference(new Set(listed))).toEqual(new Set());

    const rows = 1 + count.rows + inserted.length; // With the group that an account starts with.
    for (const [format, media] of [
      ['csv', 'text/csv'],
      ['ndjson', 'application/x-ndjson'],
    ] as const) {
      const file = (await client.call(exportEstate, { query: { format } })).body;
      expect(file.media).toBe(media);
      expect(await bring(file.text, media)).toMatchObject({ status: 'succeeded', rows: same(rows) });
      expect((await client.call(exportEstate, { query: { format } })).body.text).toBe(file.text);
    }
  }, 600_000);

  test('a group that an import has created can be granted immediately, and the grantee sees what is in it', async () => {
    const { client } = await newOwner(on());
    const lines = ['kind,external_id,parent,name,timezone'];
    for (let n = 1; n <= 20; n++)
      lines.push(`group,R${n},,Region ${n},`, `location,L${n},R${n},Street ${n},Europe/Zurich`);
    await untilImported(client, (await upload(client, `${lines.join('\n')}\n`)).id);
    const made = (await client.call(listGroups, { query: { query: 'Region' } })).body.entries;
    expect(made).toHaveLength(20);
    for (const { id } of made) {
      const body = { email: newEmail(), group_scope: 'selected' as const, groups: [id] };
      const { status } = await client.call(createInvitation, { body });
      expect(status).toBe(201);
    }
    const member = await newMember(on(), client, [made[4]?.id ?? '']);
    const seen = (await member.client.call(listLocations)).body.entries.map(({ name }) => name);
    expect(seen).toEqual(['Street 5']);
    await eventually(async () => {
      const known = await on().rows<{ id: string }>('account', 'SELECT id FROM known_groups');
      expect(made.filter(({ id }) => !known.some((one) => one.id === id))).toEqual([]);
    });
  });
}
