import { createGroup, deleteGroup, getGroup, updateGroup } from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { personToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newTenant, sendRaw, startOrganization } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

const long = (length: number) => 'x'.repeat(length);

describe('create', () => {
  test('201: a group created with only a name has its defaults and nothing else, and can be read back', async () => {
    const { owner } = newTenant(service);
    const created = await owner.call(createGroup, { body: { name: '  North ' } });
    expect(created.status).toBe(201);
    const { id, created_at } = created.body;
    expect(id).toMatch(/^grp_/);
    expect(created.body).toEqual({
      id,
      name: 'North',
      external_id: null,
      description: null,
      created_at,
      updated_at: created_at,
    });
    const read = await owner.call(getGroup, { params: { id } });
    expect(read.status).toBe(200);
    expect(read.body).toEqual(created.body);
  });

  test('201: the longest name and description are kept, unicode is, and unknown fields are ignored', async () => {
    const { owner } = newTenant(service);
    const body = { name: `${long(198)}🏬`, description: `Zürich – 東京\n${long(1980)}`, colour: 'red' };
    const created = await owner.call(createGroup, { body });
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({ name: body.name, description: body.description });
    expect(created.body).not.toHaveProperty('colour');
  });

  test('201: an admin may, with a name that another group has', async () => {
    const tenant = newTenant(service);
    const first = await tenant.group('Twin');
    const second = await tenant.as({ role: 'admin' }).call(createGroup, { body: { name: 'Twin' } });
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.id);
  });

  test.each<[string, string]>([
    ['', 'body: is required.'],
    ['{', 'body: is not valid JSON.'],
    ['[]', 'body: must be an object.'],
    ['null', 'body: must be an object, not null.'],
    ['{}', 'body.name: is required.'],
    ['{"name":null}', 'body.name: must be text, not null.'],
    ['{"name":7}', 'body.name: must be text, not 7.'],
    ['{"name":"  "}', 'body.name: must not be empty, not "  ".'],
    [`{"name":"${long(201)}"}`, 'body.name: must have at most 200 characters.'],
    ['{"name":"a\\u0000b"}', 'body.name: contains a NUL character.'],
    ['{"name":"\\ud83d"}', 'body.name: contains half of a surrogate pair.'],
    ['{"name":"x","description":1}', 'body.description: must be text, not 1.'],
    [`{"name":"x","description":"${long(2001)}"}`, 'body.description: must have at most 2000 characters.'],
  ])('400: %p is refused by name, and nothing is created', async (body, detail) => {
    const { account, events } = newTenant(service);
    const answer = await sendRaw(service, 'POST', '/v2/groups', personToken({ account }), body);
    expect([answer.status, answer.headers['content-type']]).toEqual([400, 'application/problem+json']);
    expect(JSON.parse(answer.text)).toMatchObject({ type: expect.stringMatching(/\/validation-error$/), detail });
    const { rows } = await service.db.query('SELECT id FROM groups WHERE account_id = $1', [account]);
    expect(rows).toEqual([]);
    expect(await events()).toEqual([]);
  });
});

describe('change', () => {
  test('200: what is given changes, what is left out stays, null clears', async () => {
    const tenant = newTenant(service);
    const { id } = await tenant.group('Old');
    service.clock.advance({ seconds: 1 });
    const both = await tenant.owner.call(updateGroup, { params: { id }, body: { name: ' New ', description: 'Text' } });
    expect(both.status).toBe(200);
    expect(both.body).toMatchObject({ name: 'New', description: 'Text' });
    expect(Date.parse(both.body.updated_at)).toBeGreaterThan(Date.parse(both.body.created_at));
    const cleared = await tenant.owner.call(updateGroup, { params: { id }, body: { description: null } });
    expect(cleared.body).toEqual({ ...both.body, description: null, updated_at: cleared.body.updated_at });
    const same = await tenant.owner.call(updateGroup, { params: { id }, body: { colour: 'red' } as object });
    expect(same.body).toEqual({ ...cleared.body, updated_at: same.body.updated_at });
    expect((await tenant.owner.call(getGroup, { params: { id } })).body).toEqual(same.body);
  });

  test.each<[object | null, string]>([
    [{ id: 'grp_other' }, 'body.id: cannot be changed here, not "grp_other".'],
    [{ created_at: null }, 'body.created_at: cannot be changed here, not null.'],
    [{ updated_at: '2026-01-01T00:00:00Z' }, 'body.updated_at: cannot be changed here, not "2026-01-01T00:00:00Z".'],
    [{ name: null }, 'body.name: must be text, not null.'],
    [{ name: ' ' }, 'body.name: must not be empty, not " ".'],
    [{ name: 'New', description: 5 }, 'body.description: must be text, not 5.'],
    [null, 'body: must be an object, not null.'],
  ])('400: %p is refused by name, and nothing changes', async (body, detail) => {
    const tenant = newTenant(service);
    const group = await tenant.group();
    const answer = await tenant.owner.call(updateGroup, { params: { id: group.id }, body: body as object });
    expect(answer.problem).toMatchObject({ kind: 'validation-error', detail });
    expect((await tenant.owner.call(getGroup, { params: { id: group.id } })).body).toEqual(group);
  });
});

describe('delete', () => {
  test('204: the group does not exist any more, and deleting it again is 404', async () => {
    const { owner, group } = newTenant(service);
    const params = { id: (await group()).id };
    expect((await owner.call(deleteGroup, { params })).status).toBe(204);
    expect((await owner.call(getGroup, { params })).problem?.kind).toBe('not-found');
    expect((await owner.call(deleteGroup, { params })).problem?.kind).toBe('not-found');
    expect((await owner.call(updateGroup, { params, body: { name: 'Back' } })).problem?.kind).toBe('not-found');
  });

  test('409: a group with locations stays as it is, and nothing is published', async () => {
    const tenant = newTenant(service);
    const group = await tenant.group();
    const location = await tenant.location(group.id);
    const before = await tenant.events();
    const refused = await tenant.owner.call(deleteGroup, { params: { id: group.id } });
    expect(refused.problem).toMatchObject({
      kind: 'conflict',
      detail: 'The group has locations: move or delete them first.',
    });
    expect((await tenant.owner.call(getGroup, { params: { id: group.id } })).body).toEqual(group);
    const { rows } = await service.db.query('SELECT id FROM locations WHERE group_id = $1', [group.id]);
    expect(rows).toEqual([{ id: location.id }]);
    expect(await tenant.events()).toEqual(before);
  });
});

test('404: a group that is unknown, malformed, of another kind or of another account gets the same response, byte for byte', async () => {
  const { account } = newTenant(service);
  const others = await newTenant(service).group();
  const token = personToken({ account });
  const ids = [
    newId('group'),
    others.id,
    newId('location'),
    others.id.toUpperCase(),
    'x',
    '%00',
    'grp_',
    `${others.id}0`,
  ];
  for (const [method, body] of [['GET'], ['PATCH', '{"name":"Mine"}'], ['DELETE']] as const) {
    const answers = await Promise.all(ids.map((id) => sendRaw(service, method, `/v2/groups/${id}`, token, body)));
    expect(answers[0]?.status).toBe(404);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
  }
  const { rows } = await service.db.query('SELECT name FROM groups WHERE id = $1', [others.id]);
  expect(rows).toEqual([{ name: others.name }]);
});
