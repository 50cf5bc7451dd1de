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
import type { ResponsesByStatus } from './every-status-billing.ts';
import { calling } from './every-status-calls.ts';
import { bodyIn, kinds, newTree, oneGroup, type Tree, unknownTree } from './support-estate.ts';

interface People {
  readonly nobody: () => Client;
  readonly owner: () => Client;
  /** May not set up the estate. */
  readonly member: () => Client;
  /** Has no access to this service. */
  readonly outsider: () => Client;
  /** The owner of an account that has as many groups as it may have. */
  readonly atLimit: () => Promise<Client>;
}

/** For the endpoints of the estate. */
export function ofOrganization({ nobody, owner, member, outsider, atLimit }: People): ResponsesByStatus {
  let sharedTree: Promise<Tree> | undefined;
  const tree = () => (sharedTree ??= newTree(owner()));
  const of = (kind: EstateKind) => async () => ({ params: { id: (await tree())[kind] } });
  let marks = 0;
  const mark = () => `mark-${++marks}`;
  const create = (kind: EstateKind, more: object, where: Tree) =>
    owner().call(kinds[kind].create as Endpoint, { body: { ...bodyIn[kind](where), ...more } } as never);

  /** References to resources that do not exist. */
  const unknownReferences: Readonly<Partial<Record<EstateKind, object>>> = {
    location: { group_id: newId('group') },
    screen: { zone_id: newId('zone') },
    installation: { outputs: [{ output: 'HDMI-1', screen_id: newId('screen') }] },
    camera: { zone_id: newId('zone') },
  };
  /** Kinds whose resources in the tree are in use, and so cannot be deleted. */
  const kindsInUse: readonly EstateKind[] = ['group', 'location', 'zone', 'screen'];

  function reading(endpoint: Endpoint) {
    const call = calling(endpoint);
    return { 400: call(owner, { query: { limit: 0 } }), 401: call(nobody), 403: call(outsider) };
  }
  const readingOne = (endpoint: Endpoint, kind: EstateKind) => {
    const call = calling(endpoint);
    const unknown = { params: { id: unknownTree()[kind] } };
    return { 401: call(nobody, of(kind)), 403: call(outsider, of(kind)), 404: call(owner, unknown) };
  };

  function creation(kind: EstateKind) {
    const call = calling(kinds[kind].create);
    const whole = async () => ({ body: bodyIn[kind](await tree()) });
    return {
      400: call(owner, { body: {} }),
      401: call(nobody, whole),
      403: call(member, whole),
      409: async () => {
        const [external_id, where] = [mark(), await tree()];
        await create(kind, { external_id }, where);
        return create(kind, { external_id }, where);
      },
      422:
        kind === 'group'
          ? async () => (await atLimit()).call(kinds.group.create, { body: bodyIn.group() })
          : call(owner, { body: bodyIn[kind](unknownTree()) }),
    };
  }

  function change(kind: EstateKind) {
    const call = calling(kinds[kind].update);
    const own = async (body: object) => ({ ...(await of(kind)()), body });
    const wrong = unknownReferences[kind];
    return {
      400: call(owner, () => own({ name: 7 })),
      401: call(nobody, () => own({})),
      403: call(member, () => own({ name: 'Mine' })),
      404: call(owner, { params: { id: unknownTree()[kind] }, body: {} }),
      409: async () => {
        const external_id = mark();
        await create(kind, { external_id }, await tree());
        return call(owner, () => own({ external_id }))();
      },
      ...(wrong && { 422: call(owner, () => own(wrong)) }),
    };
  }

  function removal(kind: EstateKind) {
    const call = calling(kinds[kind].remove);
    return {
      401: call(nobody, of(kind)),
      403: call(member, of(kind)),
      404: call(owner, { params: { id: unknownTree()[kind] } }),
      ...(kindsInUse.includes(kind) && { 409: call(owner, of(kind)) }),
    };
  }

  const ofKind = (kind: EstateKind) => ({
    [`list_${kind}s`]: reading(kinds[kind].list),
    [`create_${kind}`]: creation(kind),
    [`get_${kind}`]: readingOne(kinds[kind].get, kind),
    [`update_${kind}`]: change(kind),
    [`delete_${kind}`]: removal(kind),
  });

  const send = calling(importEstate);
  const ofImport = (endpoint: Endpoint) => {
    const call = calling(endpoint);
    const params = { id: newId('job') };
    return { 401: call(nobody, { params }), 403: call(outsider, { params }), 404: call(owner, { params }) };
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
    export_estate: { ...reading(exportEstate), 400: calling(exportEstate)(owner, { query: { format: 'xml' } }) },
  };
}
