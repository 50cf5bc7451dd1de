import {
  estateColumns,
  estateFileLimits,
  getEstateImport,
  getEstateImportReport,
  importEstate,
  listEstateImports,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, supportToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { importPurge } from '../src/imports/index.ts';
import { newTenant, startOrganization } from './support.ts';
import {
  a,
  countStored,
  countsOf,
  csv,
  ended,
  exportedIds,
  imported,
  openDependencies,
  reportOf,
  send,
  site,
} from './support-imports.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

const upload = (content: string) => ({ media: 'text/csv', content }) as const;
const file = csv([a.group('G')]);

describe('202', () => {
  test('the import, which then runs to its end', async () => {
    const { owner } = newTenant(service);
    const { status, body } = await owner.call(importEstate, { upload: upload(csv([a.group('G'), ...site('L', 'G')])) });
    expect(status).toBe(202);
    expect(body).toMatchObject({
      ...{ status: 'queued', dry_run: false, media: 'text/csv', progress: 0, error: null },
      ...{ rows: { total: 0, created: 0, updated: 0, unchanged: 0, refused: 0 }, started_at: null, finished_at: null },
    });
    const done = await ended(owner, body.id);
    expect(done).toEqual({
      ...body,
      ...{ status: 'succeeded', progress: 100, rows: { total: 6, created: 6, updated: 0, unchanged: 0, refused: 0 } },
      ...{ started_at: expect.any(String), finished_at: expect.any(String) },
    });
    expect(await exportedIds(owner)).toEqual(['G', 'L', 'L-Z', 'L-S', 'L-I', 'L-C']);
  });

  test.each([
    ['a byte order mark and CRLF', `\uFEFF${file.replaceAll('\n', '\r\n')}`],
    ['no line break at the end', file.trimEnd()],
    ['blank lines', `${file}\n\n`],
    ['columns in any order', 'name,external_id,kind\nA group,G,group\n'],
    [
      'quotes, commas and line breaks',
      'kind,external_id,name,description\ngroup,G,"A ""group"", of one","two\nlines"\n',
    ],
  ])('a file with %s is accepted', async (_, content) => {
    const { owner } = newTenant(service);
    expect(countsOf(await imported(owner, content))).toEqual([1, 0, 0, 0]);
    expect(await exportedIds(owner)).toEqual(['G']);
  });

  test('NDJSON', async () => {
    const { owner } = newTenant(service);
    const done = await imported(owner, [a.group('G', { description: null }), ...site('L', 'G')], {
      media: 'application/x-ndjson',
    });
    expect([done.media, ...countsOf(done)]).toEqual(['application/x-ndjson', 6, 0, 0, 0]);
  });

  test('for an admin of a group, who sets up what is in it, while rows of other groups are refused', async () => {
    const tenant = newTenant(service);
    const [own, other] = [await tenant.group('Own', { external_id: 'OWN' }), await tenant.group()];
    const admin = tenant.narrowed({ [own.id]: 'a', [other.id]: 'm' });
    const rows = [...site('L', 'OWN'), ...site('M', other.id), a.location('N', 'nowhere'), a.group('NEW')];
    const { report, ...done } = await imported(admin, rows);
    expect(countsOf(done)).toEqual([5, 0, 0, 7]);
    const noRight = 'Only an owner, an admin or an admin of the group sets up what is in it.';
    expect(report.map(({ row, reason }) => [row, reason])).toEqual([
      ...[7, 8, 9, 10, 11].map((row) => [row, row === 7 ? noRight : 'Row 7 of the same location is at fault.']),
      [12, 'parent: there is no group nowhere.'],
      [13, 'Only an owner or an admin sets up groups.'],
    ]);
  });
});

describe('400', () => {
  const lines = (...texts: string[]) => texts.join('\n');
  test.each<[string, string, string]>([
    ['an empty file', '', 'body: is required.'],
    ['a header alone', 'kind,external_id\n', 'body: has no rows.'],
    [
      'an unknown column',
      lines('kind,external_id,colour', 'group,G,red'),
      `row 1: "colour" is not a column; there are ${estateColumns.join(', ')}.`,
    ],
    [
      'a column twice',
      lines('kind,external_id,name,name', 'group,G,A,B'),
      'row 1: the column "name" is named more than once.',
    ],
    ['no column of kinds', lines('external_id,name', 'G,A'), 'row 1: the column kind is missing.'],
    ['no column of external ids', lines('kind,name', 'group,A'), 'row 1: the column external_id is missing.'],
    ['no header', lines('group,G,Zurich'), `row 1: "group" is not a column; there are ${estateColumns.join(', ')}.`],
    [
      'semicolons',
      lines('kind;external_id', 'group;G'),
      `row 1: "kind;external_id" is not a column; there are ${estateColumns.join(', ')}.`,
    ],
  ])('%s', async (_, content, detail) => {
    const { owner } = newTenant(service);
    const { status, problem } = await owner.call(importEstate, { upload: upload(content) });
    expect([status, problem?.detail]).toEqual([400, detail]);
    expect((await owner.call(listEstateImports)).body.entries).toEqual([]);
  });

  /** Sends a body with any content type, past the typed client. */
  async function sendBytes(type: string, body: string | Uint8Array<ArrayBuffer>) {
    const headers = { authorization: `Bearer ${personToken()}`, 'content-type': type };
    const answer = await fetch(`${service.url}/v2/estate/imports`, { method: 'POST', body, headers });
    return { status: answer.status, detail: ((await answer.json()) as { detail: string }).detail };
  }

  test.each([['application/json'], ['text/plain'], ['text/csv; charset=latin1']])(
    'a Content-Type of %s',
    async (type) => {
      const { status, detail } = await sendBytes(type, file);
      expect([status, detail.startsWith('Content-Type: ')]).toEqual([400, true]);
    },
  );

  test('a file that is too large, before any of it is read', async () => {
    const content = new Uint8Array(estateFileLimits.bytes + 1);
    const { status, detail } = await sendBytes('text/csv', content);
    expect([status, detail]).toEqual([400, `body: is larger than ${estateFileLimits.bytes} bytes.`]);
  });

  test.each([['maybe'], ['1'], ['']])('dry_run=%j', async (dry_run) => {
    const { owner } = newTenant(service);
    expect((await owner.call(importEstate, { query: { dry_run }, upload: upload(file) })).status).toBe(400);
  });
});

test('403: a member who administers no group, a viewer, a key and a support session cannot import', async () => {
  const tenant = newTenant(service);
  const { id } = await tenant.group();
  const refused = [
    tenant.as({ role: 'member' }),
    tenant.as({ role: 'viewer' }),
    tenant.narrowed({}),
    tenant.narrowed({ [id]: 'm' }),
    tenant.narrowed({ [id]: 'm' }, { role: 'admin' }),
    tenant.narrowed({ [id]: 'a' }, { role: 'viewer' }),
    tenant.key(),
    tenant.key({ role: 'admin', key: { type: 'api', readonly: false } }),
    service.client.with({ token: supportToken({ account: tenant.account }) }),
  ];
  for (const caller of refused) expect((await caller.call(importEstate, { upload: upload(file) })).status).toBe(403);
  expect((await tenant.owner.call(listEstateImports)).body.entries).toEqual([]);
});

test('403: a key cannot read imports either', async () => {
  const tenant = newTenant(service);
  const { id } = await send(tenant.owner, file);
  for (const endpoint of [listEstateImports, getEstateImport, getEstateImportReport])
    expect((await tenant.key().call(endpoint, { params: { id } } as never)).status).toBe(403);
});

describe('Idempotency-Key', () => {
  const keyed = (owner: ReturnType<typeof newTenant>['owner'], content: string, query = {}) =>
    owner.call(importEstate, { query, upload: upload(content), headers: { 'idempotency-key': 'one' } });

  test('the same file twice is one import; another file or another query is 409', async () => {
    const { owner } = newTenant(service);
    const first = (await keyed(owner, file)).body;
    expect((await keyed(owner, file)).body).toEqual(first);
    expect((await keyed(owner, `${file}\n`)).status).toBe(409);
    expect((await keyed(owner, file, { dry_run: 'true' })).status).toBe(409);
    expect((await owner.call(listEstateImports)).body.entries.map(({ id }) => id)).toEqual([first.id]);
  });

  test('twenty requests at once are one import, which all of them get', async () => {
    const { owner } = newTenant(service);
    const answers = await Promise.all(Array.from({ length: 20 }, () => keyed(owner, file)));
    expect(new Set(answers.map(({ status, body }) => `${status} ${body.id}`)).size).toBe(1);
    expect((await owner.call(listEstateImports)).body.entries).toHaveLength(1);
  });

  test('a refused file does not use up the key', async () => {
    const { owner } = newTenant(service);
    expect((await keyed(owner, 'kind,external_id\n')).status).toBe(400);
    expect((await keyed(owner, file)).status).toBe(202);
  });
});

describe('reading imports', () => {
  test('newest first, page by page, each once', async () => {
    const { owner } = newTenant(service);
    const ids: string[] = [];
    for (let at = 0; at < 5; at++) ids.unshift((await send(owner, file)).id);
    const listed: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const { entries, next_cursor } = (await owner.call(listEstateImports, { query: { limit: 2, cursor } })).body;
      listed.push(...entries.map(({ id }) => id));
      if (next_cursor === null) break;
      cursor = next_cursor;
    }
    expect(listed).toEqual(ids);
  });

  test('404: an import of another account or that never existed, and for all but account-wide admins that of another person', async () => {
    const tenant = newTenant(service);
    const { id: group } = await tenant.group('G', { external_id: 'G' });
    const [creator, colleague] = [tenant.narrowed({ [group]: 'a' }), tenant.narrowed({ [group]: 'a' })];
    const { id } = await send(creator, site('L', 'G'));
    await ended(creator, id);
    const statuses = async (caller: typeof creator, of = id) => [
      (await caller.call(getEstateImport, { params: { id: of } })).status,
      (await caller.call(getEstateImportReport, { params: { id: of } })).status,
      (await caller.call(listEstateImports)).body.entries.length,
    ];
    for (const who of [creator, tenant.owner, tenant.as({ role: 'admin' })])
      expect(await statuses(who)).toEqual([200, 200, 1]);
    for (const who of [colleague, tenant.as({ role: 'member' }), newTenant(service).owner])
      expect(await statuses(who)).toEqual([404, 404, 0]);
    expect(await statuses(creator, newId('job'))).toEqual([404, 404, 1]);
  });

  test('the report: a line for each refused row, as a CSV file named after the import', async () => {
    const { owner } = newTenant(service);
    const { id } = await send(owner, [a.group('=G,"1"', { zone_kind: 'window' }), a.group('H')]);
    await ended(owner, id);
    const { headers, body } = await owner.call(getEstateImportReport, { params: { id } });
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="${id}.csv"`,
    });
    // A spreadsheet must not take the cell for a formula.
    expect(body.text).toBe(`row,kind,external_id,reason\n2,group,"'=G,""1""",zone_kind: a group has none.\n`);
    expect((await owner.call(getEstateImportReport, { params: { id: (await send(owner, file)).id } })).body.text).toBe(
      'row,kind,external_id,reason\n',
    );
  });

  test('a report of more rows than one statement reads has all of them, in order', async () => {
    const { owner } = newTenant(service);
    const rows = Array.from({ length: 4_500 }, (_, at) => a.group(`G${at}`, { name: '' }));
    const { id } = await send(owner, rows);
    const done = await ended(owner, id);
    expect([done.error, ...countsOf(done)]).toEqual([null, 0, 0, 0, 4_500]);
    expect((await reportOf(owner, id)).map(({ row }) => row)).toEqual(rows.map((_, at) => at + 2));
  });
});

test('an import is deleted 30 days after its end, with its report and its rows', async () => {
  const { owner } = newTenant(service);
  const { id } = await imported(owner, [a.group('G', { name: '' })]);
  const deps = openDependencies(service);
  const inDays = (days: number) => ({ now: () => new Date(Date.now() + days * 24 * 60 * 60 * 1000) });
  try {
    await importPurge({ ...deps, clock: inDays(29) }).purge();
    expect(await reportOf(owner, id)).toHaveLength(1);
    await importPurge({ ...deps, clock: inDays(31) }).purge();
  } finally {
    await deps.database.close();
  }
  expect((await owner.call(getEstateImport, { params: { id } })).status).toBe(404);
  expect(await countStored(service, id)).toBe(0);
});
