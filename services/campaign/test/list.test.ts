import { listCampaigns } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newTenant, sendRaw, setStatus, startCampaign } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startCampaign();
});
afterAll(() => service.stop());

type Tenant = ReturnType<typeof newTenant>;

/** Inserts many rows directly. Returns their ids, newest first. */
async function fill({ account }: Tenant, count: number, status = 'draft'): Promise<string[]> {
  const ids = Array.from({ length: count }, () => newId('campaign'));
  await service.db.query(
    `INSERT INTO campaigns (id, account_id, created_by, name, brief, metadata, target, status, created_at, updated_at)
     SELECT id, $2, 'usr_x', 'Row', '{"product":"P"}', '{}', '{}', $3::"CampaignStatus", now(), now()
     FROM unnest($1::text[]) AS id`,
    [ids, account, status],
  );
  return ids.reverse();
}

async function read(tenant: Tenant, query: Record<string, string | number> = {}) {
  const { body } = await tenant.owner.call(listCampaigns, { query });
  return { ids: body.data.map(({ id }) => id), next: body.next_cursor };
}

test('200: a list is `data` and `next_cursor`; of the brief it has only product, of the rest everything', async () => {
  const tenant = newTenant(service);
  const token = personToken({ account: tenant.account });
  const empty = await sendRaw(service, 'GET', '/v2/campaigns', token);
  expect([empty.status, empty.text]).toEqual([200, '{"data":[],"next_cursor":null}']);
  const brief = { product: 'Shoe', objective: 'Sell', tone: 'bold' };
  const full = await tenant.campaign({ name: 'Full', brief, metadata: { step: 1 }, start_date: '2026-03-01' });
  const bare = await tenant.campaign({ name: 'Bare' });
  const listed = JSON.parse((await sendRaw(service, 'GET', '/v2/campaigns', token)).text) as object;
  expect(listed).toEqual({
    data: [
      { ...bare, brief: { product: null } },
      { ...full, brief: { product: 'Shoe' } },
    ],
    next_cursor: null,
  });
});

test('200: a list has the campaigns of the account only', async () => {
  const tenant = newTenant(service);
  await newTenant(service).campaign();
  const { id } = await tenant.campaign();
  expect((await read(tenant)).ids).toEqual([id]);
});

describe('pages', () => {
  test('200: of large campaigns have 1 MiB at most, and followed by their cursors contain each once', async () => {
    const tenant = newTenant(service);
    const ids = await fill(tenant, 5);
    // Rows of before the limit of `metadata`.
    const metadata = JSON.stringify({ text: 'x'.repeat(600_000) });
    await service.db.query('UPDATE campaigns SET metadata = $2 WHERE id = ANY($1)', [
      [ids[0], ids[1], ids[3]],
      metadata,
    ]);
    const seen: string[][] = [];
    let next: string | null = null;
    do {
      const page = await read(tenant, { limit: 4, ...(next !== null && { cursor: next }) });
      seen.push(page.ids);
      next = page.next;
    } while (next !== null);
    expect(seen).toEqual([[ids[0]], [ids[1], ids[2]], [ids[3], ids[4]]]);
  });

  test('200: have 50 items by default and 200 at most, newest first, each campaign once', async () => {
    const tenant = newTenant(service);
    const ids = await fill(tenant, 201);
    expect((await read(tenant)).ids).toEqual(ids.slice(0, 50));
    const first = await read(tenant, { limit: 200 });
    expect(first.ids).toEqual(ids.slice(0, 200));
    expect(await read(tenant, { limit: 200, cursor: first.next ?? '' })).toEqual({ ids: ids.slice(200), next: null });
  });

  test('200: a last page that is exactly full has no next cursor', async () => {
    const tenant = newTenant(service);
    const ids = await fill(tenant, 4);
    expect(await read(tenant, { limit: 4 })).toEqual({ ids, next: null });
    const first = await read(tenant, { limit: 2 });
    expect(await read(tenant, { limit: 2, cursor: first.next ?? '' })).toEqual({ ids: ids.slice(2), next: null });
  });

  test('200: campaigns that are added or removed between two pages cause no repetition and no gap', async () => {
    const tenant = newTenant(service);
    const ids = await fill(tenant, 4);
    const first = await read(tenant, { limit: 2 });
    await tenant.campaign();
    await service.db.query('DELETE FROM campaigns WHERE id = $1', [ids[1]]);
    expect(await read(tenant, { limit: 2, cursor: first.next ?? '' })).toEqual({ ids: ids.slice(2), next: null });
  });

  test('200: keep the filter by status', async () => {
    const tenant = newTenant(service);
    const oldest = await fill(tenant, 2, 'published');
    await fill(tenant, 2);
    const newest = await fill(tenant, 1, 'archived');
    const query = { limit: 2, status: 'published,archived' };
    const first = await read(tenant, query);
    expect(first.ids).toEqual([newest[0], oldest[0]]);
    expect(await read(tenant, { ...query, cursor: first.next ?? '' })).toEqual({ ids: [oldest[1]], next: null });
  });

  test('200: keep to the groups that the caller holds', async () => {
    const tenant = newTenant(service);
    const group = await tenant.group();
    const ids: string[] = [];
    for (let at = 0; at < 3; at++) {
      await tenant.campaign();
      ids.unshift((await tenant.campaign({ group_id: group })).id);
    }
    const caller = tenant.narrowed([group]);
    const first = await caller.call(listCampaigns, { query: { limit: 2 } });
    expect(first.body.data.map(({ id }) => id)).toEqual(ids.slice(0, 2));
    const next = await caller.call(listCampaigns, { query: { limit: 2, cursor: first.body.next_cursor ?? '' } });
    expect(next.body.data.map(({ id }) => id)).toEqual(ids.slice(2));
    expect(next.body.next_cursor).toBeNull();
  });

  test.each([
    ['0', 'must be at least 1, not 0'],
    ['201', 'must be at most 200, not 201'],
    ['x', 'must be a whole number from 1 to 200, not "x"'],
  ])('400: a limit of %p is named', async (limit, what) => {
    const answer = await newTenant(service).owner.call(listCampaigns, { query: { limit } });
    expect(answer.problem).toMatchObject({ kind: 'validation-error', detail: `query.limit: ${what}.` });
  });

  test('400: a cursor that is invalid, of another filter, or of another type is refused', async () => {
    const tenant = newTenant(service);
    await fill(tenant, 2);
    const good = (await read(tenant, { limit: 1 })).next ?? '';
    const filtered = (await read(tenant, { limit: 1, status: 'draft' })).next ?? '';
    const [scope] = JSON.parse(Buffer.from(good, 'base64url').toString()) as [string];
    const forge = (...content: unknown[]) => Buffer.from(JSON.stringify(content)).toString('base64url');
    const bad = ['x', good.slice(1), filtered, forge(scope), forge(scope, 5), forge(scope, null), forge(scope, ['x'])];
    for (const cursor of [...bad, forge(scope, 'a', 'b'), forge(scope, 'a\0')]) {
      const { problem } = await tenant.owner.call(listCampaigns, { query: { limit: 1, cursor } });
      const detail = 'query.cursor: is not a next_cursor of this list with these filters.';
      expect([cursor, problem]).toEqual([cursor, expect.objectContaining({ kind: 'validation-error', detail })]);
    }
  });
});

describe('status', () => {
  test('200: one or several, joined by commas', async () => {
    const tenant = newTenant(service);
    const archived = (await tenant.campaign()).id;
    const published = (await tenant.campaign()).id;
    const draft = (await tenant.campaign()).id;
    await setStatus(service, published, 'published');
    await setStatus(service, archived, 'archived');
    expect((await read(tenant)).ids).toEqual([draft, published, archived]);
    expect((await read(tenant, { status: 'draft' })).ids).toEqual([draft]);
    expect((await read(tenant, { status: 'archived,published' })).ids).toEqual([published, archived]);
    expect((await read(tenant, { status: 'archived,draft,published,draft' })).ids).toEqual([
      draft,
      published,
      archived,
    ]);
  });

  test.each([
    ['live', 'query.status[0]: must be one of draft, published, archived, not "live".'],
    ['draft,Published', 'query.status[1]: must be one of draft, published, archived, not "Published".'],
    ['draft,', 'query.status[1]: must be one of draft, published, archived, not "".'],
    ['', 'query.status[0]: must be one of draft, published, archived, not "".'],
  ])('400: %p is refused with its name', async (status, detail) => {
    const answer = await newTenant(service).owner.call(listCampaigns, { query: { status } });
    expect(answer.problem).toMatchObject({ kind: 'validation-error', detail });
  });

  test('400: a repeated parameter is refused by name', async () => {
    const answer = await sendRaw(service, 'GET', '/v2/campaigns?status=draft&status=archived', personToken());
    const detail = 'query.status: is given more than once; join values with commas.';
    expect([answer.status, JSON.parse(answer.text)]).toEqual([400, expect.objectContaining({ detail })]);
  });
});
