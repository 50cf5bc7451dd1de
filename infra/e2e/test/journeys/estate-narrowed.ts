import {
  type Client,
  type Endpoint,
  type EstateKind,
  endpoints,
  estateColumns,
  estateKinds,
  exportEstate,
  importEstate,
  listEstateImports,
  matchScreens,
  updateLocation,
  updateUser,
} from '@attribution/contracts';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { bodyIn, kinds, newTree, oneGroup, type Tree, untilImported, upload } from '../support-estate.ts';
import { newMachine, newMember, signIn } from '../support-people.ts';
import { newOwner, type Platform } from '../support-platform.ts';

/** The rule of each estate endpoint for a caller who is narrowed to a group and may not set up the estate. */
const rules: Readonly<Record<string, keyof typeof checks>> = {
  ...Object.fromEntries(
    estateKinds.flatMap((kind) => [
      [`list_${kind}s`, 'list'],
      [`get_${kind}`, 'get'],
      [`create_${kind}`, kind === 'group' ? 'set-up by admins' : 'creation'],
      [`update_${kind}`, kind === 'group' ? 'set-up by admins' : 'change'],
      [`delete_${kind}`, kind === 'group' ? 'set-up by admins' : 'change'],
    ]),
  ),
  match_screens: 'match',
  import_estate: 'import',
  list_estate_imports: 'own imports',
  get_estate_import: "an owner's import",
  get_estate_import_report: "an owner's import",
  export_estate: 'export',
};

interface Caller {
  readonly client: Client;
  readonly isKey: boolean;
  /** The resources that the caller sees; undefined if there are none. */
  readonly own: Tree | undefined;
  /** Resources that the caller does not see, of its own account and of another. */
  readonly others: readonly Tree[];
  /** An import of the owner's. */
  readonly imported: string;
}

/** The kind of resource in the endpoint's path, such as zone for /v2/zones/{id}. */
const kindOf = ({ path }: Endpoint) => path.split('/')[2]?.slice(0, -1) as EstateKind;
const kindOfFilter = (name: string) => estateKinds.find((kind) => name === `${kind}_ids`);
/** The filters of a list that take ids of a kind. */
const filtersOf = ({ query }: Endpoint) =>
  Object.keys(query?.shape ?? {}).flatMap((name) => {
    const kind = kindOfFilter(name);
    return kind ? [[name, kind] as const] : [];
  });

const checks = {
  async list({ client, own, others }: Caller, endpoint: Endpoint) {
    const seen = async (query = {}) => {
      const { body } = await client.call(endpoint as typeof kinds.group.list, { query });
      expect(body.next_cursor).toBeNull();
      return body.entries.map(({ id }) => id);
    };
    const all = own ? [own[kindOf(endpoint)]] : [];
    expect(await seen()).toEqual(all);
    for (const [filter, kind] of filtersOf(endpoint)) {
      if (own) expect(await seen({ [filter]: own[kind] })).toEqual(all);
      for (const other of others) expect(await seen({ [filter]: other[kind] })).toEqual([]);
      const together = [own, ...others].flatMap((tree) => tree?.[kind] ?? []).join(',');
      expect(await seen({ [filter]: together })).toEqual(all);
    }
  },

  async get({ client, own, others }: Caller, endpoint: Endpoint) {
    const ask = (tree: Tree) => client.call(endpoint as typeof kinds.group.get, { params: idIn(tree, endpoint) });
    if (own) expect((await ask(own)).body.id).toBe(own[kindOf(endpoint)]);
    for (const other of others) expect((await ask(other)).problem?.kind).toBe('not-found');
  },

  async 'set-up by admins'({ client, own, others }: Caller, endpoint: Endpoint) {
    for (const tree of [...(own ? [own] : []), ...others]) {
      const { status } = await client.call(endpoint, sent(tree, endpoint, { name: 'Mine' }));
      expect(status).toBe(403);
    }
  },

  async creation({ client, isKey, own, others }: Caller, endpoint: Endpoint) {
    const put = async (tree: Tree) =>
      (await client.call(endpoint, { body: bodyIn[kindOf(endpoint)](tree) } as never)).status;
    if (own) expect(await put(own)).toBe(403);
    for (const other of others) expect(await put(other)).toBe(isKey ? 403 : 422);
  },

  async change({ client, isKey, own, others }: Caller, endpoint: Endpoint) {
    const ask = async (tree: Tree) => (await client.call(endpoint, sent(tree, endpoint, { name: 'Mine' }))).status;
    if (own) expect(await ask(own)).toBe(403);
    for (const other of others) expect(await ask(other)).toBe(isKey ? 403 : 404);
  },

  async match({ client, own, others }: Caller) {
    const found = async (query = {}) => (await client.call(matchScreens, { query })).body;
    const nothing = { total: 0, groups: [], entries: [], next_cursor: null };
    const seen = own
      ? { total: 1, groups: [{ group_id: own.group, screen_count: 1 }], entries: [{ id: own.screen }] }
      : nothing;
    expect(await found()).toMatchObject(seen);
    for (const [filter, kind] of filtersOf(matchScreens))
      for (const other of others) expect(await found({ [filter]: other[kind] })).toEqual(nothing);
  },

  async import({ client }: Caller) {
    expect((await client.call(importEstate, { upload: oneGroup('Mine') })).status).toBe(403);
  },

  async 'own imports'({ client, isKey }: Caller) {
    const answer = await client.call(listEstateImports);
    if (isKey) expect(answer.status).toBe(403);
    else expect(answer.body).toEqual({ entries: [], next_cursor: null });
  },

  async "an owner's import"({ client, isKey, imported }: Caller, endpoint: Endpoint) {
    const answer = await client.call(endpoint, { params: { id: imported } as never });
    expect(answer.status).toBe(isKey ? 403 : 404);
  },

  async export({ client, own, others }: Caller) {
    const header = estateColumns.join(',');
    const exported = async (query = {}) => {
      const [first, ...rows] = (await client.call(exportEstate, { query })).body.text.trimEnd().split('\n');
      expect(first).toBe(header);
      return rows.map((row) => row.split(',')[1]);
    };
    expect(await exported()).toEqual(own ? estateKinds.map((kind) => own[kind]) : []);
    for (const other of others) expect(await exported({ group_ids: other.group })).toEqual([]);
    expect((await client.call(exportEstate, { query: { format: 'ndjson' } })).body.text.split('\n')).toHaveLength(
      own ? estateKinds.length + 1 : 1,
    );
  },
};

const idIn = (tree: Tree, endpoint: Endpoint) => ({ id: tree[kindOf(endpoint)] });
const sent = (tree: Tree, { path, ...endpoint }: Endpoint, body: object) =>
  ({
    ...(path.includes('{id}') && { params: idIn(tree, { path, ...endpoint }) }),
    ...(endpoint.body && { body }),
  }) as never;

const area = endpoints.filter(({ service }) => service === 'organization');

/** What callers see who are narrowed to some groups of an estate. */
export function narrowedJourneys(on: () => Platform): void {
  let owner: Client;
  let north: Tree;
  let south: Tree;
  const callers: Record<string, Caller> = {};
  beforeAll(async () => {
    owner = (await newOwner(on())).client;
    [north, south] = [await newTree(owner), await newTree(owner)];
    const abroad = await newTree((await newOwner(on())).client);
    const imported = (await upload(owner, oneGroup('East').content)).id;
    await untilImported(owner, imported);
    const narrowed = { own: north, others: [south, abroad], isKey: false, imported };
    const invited = await newMember(on(), owner, [north.group]);
    callers['a member, invited to it'] = { ...narrowed, client: invited.client };
    callers['a member, granted it later'] = { ...narrowed, client: await granted([north.group]) };
    callers['a key'] = { ...narrowed, client: await newMachine(on(), owner, [north.group]), isKey: true };
    const empty = { client: await granted([]), own: undefined, others: [north, south, abroad], isKey: false, imported };
    callers['a member of no group'] = empty;
  });

  /** A member who first saw everything, and was then narrowed to the groups. */
  async function granted(groups: string[]): Promise<Client> {
    const { id, email, client } = await newMember(on(), owner);
    expect((await client.call(matchScreens)).body.total).toBeGreaterThan(1);
    await owner.call(updateUser, { params: { id }, body: { group_scope: 'selected', groups } });
    return signIn(on(), email);
  }

  test('every estate endpoint has a rule, and every rule an endpoint', () => {
    expect(Object.keys(rules).toSorted()).toEqual(area.map(({ operation }) => operation).toSorted());
  });

  describe.each(['a member, invited to it', 'a member, granted it later', 'a key', 'a member of no group'])(
    '%s',
    (name) => {
      test.each(area.map((endpoint) => [endpoint.operation, endpoint] as const))(
        'sees of the estate what its groups hold, and sets nothing up: %s',
        async (operation, endpoint) => {
          const rule = rules[operation];
          if (!rule) throw new Error(`There is no rule for ${operation}`);
          await checks[rule](callers[name] as Caller, endpoint);
        },
      );
    },
  );

  /** What a client sees of the group `north`: in lists, by id, in matches and in the export. */
  async function sightOf(client: Client) {
    const inside = estateKinds.filter((kind) => kind !== 'group');
    const lists = inside.map(
      async (kind) => (await client.call(kinds[kind].list as Endpoint as typeof kinds.group.list)).body,
    );
    const gets = inside.map((kind) => client.call(kinds[kind].get, { params: { id: north[kind] } }));
    return {
      listed: (await Promise.all(lists)).flatMap(({ entries }) => entries.map(({ id }) => id)),
      answers: (await Promise.all(gets)).map(({ status }) => status),
      matched: (await client.call(matchScreens)).body.total,
      rows: (await client.call(exportEstate)).body.text.trimEnd().split('\n').length - 1,
    };
  }

  test('a location that moves to another group immediately becomes invisible with everything in it, and visible again when it moves back', async () => {
    const inside = estateKinds.filter((kind) => kind !== 'group').map((kind) => north[kind]);
    const all = { listed: inside, answers: inside.map(() => 200), matched: 1, rows: 6 };
    const none = { listed: [], answers: inside.map(() => 404), matched: 0, rows: 1 };
    const move = (group_id: string) =>
      owner.call(updateLocation, { params: { id: north.location }, body: { group_id } });
    const watching = ['a member, invited to it', 'a key'].map((name) => (callers[name] as Caller).client);
    for (const [group, sight] of [
      [south.group, none],
      [north.group, all],
    ] as const) {
      expect((await move(group)).status).toBe(200);
      for (const client of watching) expect(await sightOf(client)).toEqual(sight);
    }
  });
}
