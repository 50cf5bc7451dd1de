import {
  type Client,
  type Endpoint,
  type EstateKind,
  estateKinds,
  exportEstate,
  getEstateImport,
  getEstateImportReport,
  importEstate,
  listEstateImports,
  matchScreens,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import type { Answer, Provoked } from './every-status-billing.ts';
import { bodyIn, kinds, newTree, oneGroup, type Tree, unknownTree } from './support-estate.ts';

interface People {
  readonly nobody: () => Client;
  readonly owner: () => Client;
  /** Who sets nothing up. */
  readonly member: () => Client;
  /** Who may do nothing in this service. */
  readonly outsider: () => Client;
}

type Input = Readonly<Partial<Record<'params' | 'query' | 'headers' | 'body' | 'upload', object>>>;
type Ask = (client: () => Client, input?: Input | (() => Promise<Input>)) => () => Answer;

/** Calls an endpoint of whatever shape. */
const asking =
  (endpoint: Endpoint): Ask =>
  (client, input = {}) =>
  async () =>
    client().call(endpoint, (typeof input === 'function' ? await input() : input) as never);

/** Of the estate. */
export function ofOrganization({ nobody, owner, member, outsider }: People): Provoked {
  let planted: Promise<Tree> | undefined;
  const tree = () => (planted ??= newTree(owner()));
  const of = (kind: EstateKind) => async () => ({ params: { id: (await tree())[kind] } });
  let marks = 0;
  const mark = () => `mark-${++marks}`;
  const create = (kind: EstateKind, more: object, where: Tree) =>
    owner().call(kinds[kind].create as Endpoint, { body: { ...bodyIn[kind](where), ...more } } as never);

  /** Names that something is put into, and that nobody has. */
  const astray: Readonly<Partial<Record<EstateKind, object>>> = {
    location: { group_id: newId('group') },
    screen: { zone_id: newId('zone') },
    installation: { outputs: [{ output: 'HDMI-1', screen_id: newId('screen') }] },
    camera: { zone_id: newId('zone') },
  };
  /** Kinds that something is in, or hangs on. */
  const holding: readonly EstateKind[] = ['group', 'location', 'zone', 'screen'];

  function reading(endpoint: Endpoint) {
    const ask = asking(endpoint);
    return { 400: ask(owner, { query: { limit: 0 } }), 401: ask(nobody), 403: ask(outsider) };
  }
  const readingOne = (endpoint: Endpoint, kind: EstateKind) => {
    const ask = asking(endpoint);
    const unknown = { params: { id: unknownTree()[kind] } };
    return { 401: ask(nobody, of(kind)), 403: ask(outsider, of(kind)), 404: ask(owner, unknown) };
  };

  function creation(kind: EstateKind) {
    const ask = asking(kinds[kind].create);
    const whole = async () => ({ body: bodyIn[kind](await tree()) });
    return {
      400: ask(owner, { body: {} }),
      401: ask(nobody, whole),
      403: ask(member, whole),
      409: async () => {
        const [external_id, where] = [mark(), await tree()];
        await create(kind, { external_id }, where);
        return create(kind, { external_id }, where);
      },
      ...(kind !== 'group' && { 422: ask(owner, { body: bodyIn[kind](unknownTree()) }) }),
    };
  }

  function change(kind: EstateKind) {
    const ask = asking(kinds[kind].update);
    const own = async (body: object) => ({ ...(await of(kind)()), body });
    const wrong = astray[kind];
    return {
      400: ask(owner, () => own({ name: 7 })),
      401: ask(nobody, () => own({})),
      403: ask(member, () => own({ name: 'Mine' })),
      404: ask(owner, { params: { id: unknownTree()[kind] }, body: {} }),
      409: async () => {
        const external_id = mark();
        await create(kind, { external_id }, await tree());
        return ask(owner, () => own({ external_id }))();
      },
      ...(wrong && { 422: ask(owner, () => own(wrong)) }),
    };
  }

  function removal(kind: EstateKind) {
    const ask = asking(kinds[kind].remove);
    return {
      401: ask(nobody, of(kind)),
      403: ask(member, of(kind)),
      404: ask(owner, { params: { id: unknownTree()[kind] } }),
      ...(holding.includes(kind) && { 409: ask(owner, of(kind)) }),
    };
  }

  const ofKind = (kind: EstateKind) => ({
    [`list_${kind}s`]: reading(kinds[kind].list),
    [`create_${kind}`]: creation(kind),
    [`get_${kind}`]: readingOne(kinds[kind].get, kind),
    [`update_${kind}`]: change(kind),
    [`delete_${kind}`]: removal(kind),
  });

  const send = asking(importEstate);
  const ofImport = (endpoint: Endpoint) => {
    const ask = asking(endpoint);
    const params = { id: newId('job') };
    return { 401: ask(nobody, { params }), 403: ask(outsider, { params }), 404: ask(owner, { params }) };
  };

  return {
    ...Object.assign({}, ...estateKinds.map(ofKind)),
    match_screens: reading(matchScreens),
    import_estate: {
      400: send(owner, { upload: { media: 'text/csv', content: 'colour\nred\n' } }),
      401: send(nobody, { upload: oneGroup('One') }),
      403: send(member, { upload: oneGroup('One') }),
      409: async () => {
        const headers = { 'idempotency-key': mark() };
        await send(owner, { headers, upload: oneGroup('One') })();
        return send(owner, { headers, upload: oneGroup('Two') })();
      },
    },
    list_estate_imports: reading(listEstateImports),
    get_estate_import: ofImport(getEstateImport),
    get_estate_import_report: ofImport(getEstateImportReport),
    export_estate: { ...reading(exportEstate), 400: asking(exportEstate)(owner, { query: { format: 'xml' } }) },
  };
}
