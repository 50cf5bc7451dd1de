import {
  type Endpoint,
  endpoints,
  exportEstate,
  getEstateImport,
  getEstateImportReport,
  importEstate,
  listEstateImports,
  matchScreens,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { keyToken, personToken, supportToken, type TestService } from '@attribution/testing';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { bodyIn, type KindName, kindNames, kinds } from './kinds.ts';
import { newTenant, sendRaw, startOrganization, type Tenant, type Tree } from './support.ts';

let service: TestService;
beforeAll(async () => {
  service = await startOrganization();
});
afterAll(() => service.stop());

/** Where a thing is: in one of two groups of the caller's account, or in another account. */
const places = ['A', 'B', 'elsewhere'] as const;
type Place = (typeof places)[number];
type Claims = NonNullable<Parameters<typeof personToken>[0]>;

interface World {
  readonly tenant: Tenant;
  readonly trees: Readonly<Record<Place, Tree>>;
  readonly owners: Readonly<Record<Place, Tenant>>;
}

async function newWorld(): Promise<World> {
  const [tenant, other] = [newTenant(service), newTenant(service)];
  const trees = { A: await tenant.tree(), B: await tenant.tree(), elsewhere: await other.tree() };
  return { tenant, trees, owners: { A: tenant, B: tenant, elsewhere: other } };
}

/** A caller: which groups the caller sees, in which the caller may set things up, and why not in others. */
interface Caller {
  readonly sees: readonly Place[];
  readonly administers: readonly Place[];
  /** Actions that are refused to the caller in every group. */
  readonly never: 'nothing' | 'groups' | 'writes';
  readonly token: (claims: Claims) => string;
  /** The groups in the claims; undefined for the whole account. */
  readonly holds?: Partial<Record<Place, 'a' | 'm'>>;
}

const person = (role: 'owner' | 'admin' | 'member' | 'viewer') => (claims: Claims) => personToken({ role, ...claims });
const key = (readonly: boolean) => (claims: Claims) =>
  keyToken({ role: 'admin', key: { type: 'api', readonly }, ...claims });
const both = ['A', 'B'] as const;

/** Who sees and sets up what. Every expectation below is derived from this table. */
const callers: Record<string, Caller> = {
  'an owner': { sees: both, administers: both, never: 'nothing', token: person('owner') },
  'an admin': { sees: both, administers: both, never: 'nothing', token: person('admin') },
  'an admin by role, narrowed to A': {
    sees: ['A'],
    administers: ['A'],
    never: 'nothing',
    token: person('admin'),
    holds: { A: 'a' },
  },
  'an owner by role, who holds A as a member': {
    sees: ['A'],
    administers: [],
    never: 'nothing',
    token: person('owner'),
    holds: { A: 'm' },
  },
  'a member': { sees: both, administers: [], never: 'groups', token: person('member') },
  'a member of A': { sees: ['A'], administers: [], never: 'groups', token: person('member'), holds: { A: 'm' } },
  'an admin of A': { sees: ['A'], administers: ['A'], never: 'groups', token: person('member'), holds: { A: 'a' } },
  'an admin of A who is a member of B': {
    sees: both,
    administers: ['A'],
    never: 'groups',
    token: person('member'),
    holds: { A: 'a', B: 'm' },
  },
  'an admin of A and B': {
    sees: both,
    administers: both,
    never: 'groups',
    token: person('member'),
    holds: { A: 'a', B: 'a' },
  },
  'an admin of a group of another account': {
    sees: [],
    administers: [],
    never: 'groups',
    token: person('member'),
    holds: { elsewhere: 'a' },
  },
  'a member narrowed to nothing': { sees: [], administers: [], never: 'groups', token: person('member'), holds: {} },
  'a viewer': { sees: both, administers: [], never: 'writes', token: person('viewer') },
  'a viewer of A': { sees: ['A'], administers: [], never: 'writes', token: person('viewer'), holds: { A: 'a' } },
  'a key': { sees: both, administers: [], never: 'writes', token: key(false) },
  'a key of A': { sees: ['A'], administers: [], never: 'writes', token: key(false), holds: { A: 'a' } },
  'a read-only key': { sees: both, administers: [], never: 'writes', token: key(true) },
  'a support session': { sees: both, administers: [], never: 'writes', token: supportToken },
};

function tokenOf({ token, holds }: Caller, { tenant, trees }: World): string {
  const groups = holds && Object.entries(holds).map(([place, letter]) => [trees[place as Place].group.id, letter]);
  const narrowed = groups && { group_scope: 'selected', groups: Object.fromEntries(groups) };
  return token({ account: tenant.account, ...narrowed });
}

/** How to attempt an action on a thing in a place, and the status that follows from the caller's row in the table. */
interface Question {
  readonly expected: (caller: Caller, place: Place) => number;
  readonly path: (kind: KindName, world: World, place: Place) => string | Promise<string>;
  readonly body?: (kind: KindName, tree: Tree) => object;
}

const writable = (caller: Caller, kind: KindName) =>
  caller.never === 'nothing' || (caller.never === 'groups' && kind !== 'group');
const change = (kind: KindName, done: number, unseen: number) => (caller: Caller, place: Place) => {
  if (!writable(caller, kind)) return 403;
  if (!caller.sees.includes(place)) return unseen;
  return caller.administers.includes(place) ? done : 403;
};
const pathOf = (kind: KindName, { trees }: World, place: Place) => `${kinds[kind].path}/${trees[place][kind].id}`;

const questions: Record<'get' | 'update' | 'remove' | 'create', (kind: KindName) => Question> = {
  get: () => ({ expected: (caller, place) => (caller.sees.includes(place) ? 200 : 404), path: pathOf }),
  update: (kind) => ({ expected: change(kind, 200, 404), path: pathOf, body: () => ({ name: 'Renamed' }) }),
  remove: (kind) => ({
    // A thing without children. Such a group is named by no claims, so no narrowed caller sees it.
    expected: (caller, place) =>
      change(kind, 204, 404)(kind === 'group' && caller.holds ? { ...caller, sees: [] } : caller, place),
    path: async (_, world, place) =>
      `${kinds[kind].path}/${(await kinds[kind].another(world.owners[place], world.trees[place])).id}`,
  }),
  create: (kind) => ({
    expected: (caller, place) => {
      if (kind === 'group') return writable(caller, kind) ? 201 : 403;
      return change(kind, 201, 422)(caller, place);
    },
    path: () => kinds[kind].path,
    body: bodyIn,
  }),
};

type Deed = keyof typeof questions;
const actions = Object.keys(questions) as Deed[];

/** Imports belong to their creator rather than to a group: they have tests of their own. */
const ofImports = [importEstate, listEstateImports, getEstateImport, getEstateImportReport];

test('every endpoint of the area is called below: a new one needs an entry', () => {
  const ofKinds = kindNames.flatMap((kind) => [kinds[kind].list, ...actions.map((action) => kinds[kind][action])]);
  const area = endpoints.filter(({ service: name }) => name === 'organization');
  expect(area.map(({ operation }) => operation).sort()).toEqual(
    [...ofKinds, matchScreens, exportEstate, ...ofImports].map(({ operation }) => operation).sort(),
  );
});

/** Every filter by ids that a list of the area has; a new one needs a value. */
const filterValues: Record<string, (tree: Tree) => string> = {
  group_ids: ({ group }) => group.id,
  location_ids: ({ location }) => location.id,
  zone_ids: ({ zone }) => zone.id,
  screen_ids: ({ screen }) => screen.id,
  device_ids: ({ installation }) => installation.device_id,
};
const filtersOf = ({ query }: Endpoint) => Object.keys(query?.shape ?? {}).filter((name) => name.endsWith('_ids'));

describe.each(Object.entries(callers))('%s', (_, caller) => {
  test('sees in each list, and with each filter, exactly what the table says', async () => {
    const world = await newWorld();
    const client = service.client.with({ token: tokenOf(caller, world) });
    for (const kind of kindNames) {
      const { list } = kinds[kind];
      const shown = async (query: Record<string, string> = {}) =>
        (await client.call(list, { query })).body.entries.map(({ id }) => id);
      const idsIn = (filtered: readonly Place[]) =>
        filtered.filter((place) => caller.sees.includes(place)).map((place) => world.trees[place][kind].id);
      expect([kind, await shown()]).toEqual([kind, idsIn(places)]);
      for (const name of filtersOf(list)) {
        const value = (place: Place) => filterValues[name]?.(world.trees[place]) ?? `no value for ${name}`;
        for (const place of places)
          expect([kind, name, await shown({ [name]: value(place) })]).toEqual([kind, name, idsIn([place])]);
        expect([kind, name, await shown({ [name]: places.map(value).join(',') })]).toEqual([kind, name, idsIn(places)]);
      }
    }
  });

  test('sees in a match, and in its counts, exactly the screens that the table says', async () => {
    const world = await newWorld();
    const client = service.client.with({ token: tokenOf(caller, world) });
    const expectMatch = async (query: Record<string, string>, filtered: readonly Place[]) => {
      const seen = filtered.filter((place) => caller.sees.includes(place)).map((place) => world.trees[place]);
      expect((await client.call(matchScreens, { query })).body).toEqual({
        total: seen.length,
        groups: seen.map(({ group }) => ({ group_id: group.id, screen_count: 1 })),
        entries: seen.map(({ screen }) => screen),
        next_cursor: null,
      });
    };
    await expectMatch({}, places);
    for (const name of filtersOf(matchScreens)) {
      const value = (place: Place) => filterValues[name]?.(world.trees[place]) ?? `no value for ${name}`;
      for (const place of places) await expectMatch({ [name]: value(place) }, [place]);
      await expectMatch({ [name]: places.map(value).join(',') }, places);
    }
  });

  test('gets in an export exactly what the table says', async () => {
    const world = await newWorld();
    const client = service.client.with({ token: tokenOf(caller, world) });
    const expectFile = async (query: Record<string, string>, filtered: readonly Place[]) => {
      const { text } = (await client.call(exportEstate, { query: { format: 'ndjson', ...query } })).body;
      const lines = text.split('\n').filter((line) => line !== '');
      const seen = filtered.filter((place) => caller.sees.includes(place)).map((place) => world.trees[place]);
      // A thing without an external id is exported by its id.
      const ids = lines.map((line) => (JSON.parse(line) as { external_id: string }).external_id);
      expect(ids.sort()).toEqual(seen.flatMap((tree) => kindNames.map((kind) => tree[kind].id)).sort());
      for (const place of places)
        if (!seen.includes(world.trees[place])) expect(text).not.toContain(world.trees[place].group.id);
    };
    await expectFile({}, places);
    for (const name of filtersOf(exportEstate)) {
      const value = (place: Place) => filterValues[name]?.(world.trees[place]) ?? `no value for ${name}`;
      for (const place of places) await expectFile({ [name]: value(place) }, [place]);
      await expectFile({ [name]: places.map(value).join(',') }, places);
    }
  });

  test.each(actions)('may %s what the table says, and learns nothing about what is hidden', async (action) => {
    const world = await newWorld();
    const token = tokenOf(caller, world);
    for (const kind of kindNames) {
      const { method } = kinds[kind][action];
      const question = questions[action](kind);
      for (const place of places) {
        const path = await question.path(kind, world, place);
        const body = question.body?.(kind, world.trees[place]);
        const answer = await sendRaw(service, method, path, token, body && JSON.stringify(body));
        const expected = question.expected(caller, place);
        expect([kind, place, answer.status]).toEqual([kind, place, expected]);
        if (expected === 404) {
          const unknown = `${kinds[kind].path}/${newId(kind)}`;
          expect(await sendRaw(service, method, unknown, token, body && JSON.stringify(body))).toEqual(answer);
        }
        if (expected === 422) expect(answer).toEqual(await askUnknown(kind, world.trees[place], token));
      }
    }
  });
});

/** The problem of creating in a parent that does not exist, with the id of the hidden parent put in. */
async function askUnknown(kind: KindName, tree: Tree, token: string) {
  const body = JSON.stringify(bodyIn(kind, tree));
  const [parent = ''] = /(grp|loc|zon)_[0-9a-f-]{36}/.exec(body) ?? [];
  const unknown = newId(parent.startsWith('grp') ? 'group' : parent.startsWith('loc') ? 'location' : 'zone');
  const answer = await sendRaw(service, 'POST', kinds[kind].path, token, body.replace(parent, unknown));
  return { ...answer, text: answer.text.replace(unknown, parent) };
}
