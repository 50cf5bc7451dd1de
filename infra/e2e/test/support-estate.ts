import {
  type Client,
  createCamera,
  createGroup,
  createInstallation,
  createLocation,
  createScreen,
  createZone,
  deleteCamera,
  deleteGroup,
  deleteInstallation,
  deleteLocation,
  deleteScreen,
  deleteZone,
  type EstateKind,
  type EstateMedia,
  getCamera,
  getEstateImport,
  getGroup,
  getInstallation,
  getLocation,
  getScreen,
  getZone,
  importEstate,
  listCameras,
  listGroups,
  listInstallations,
  listLocations,
  listScreens,
  listZones,
  updateCamera,
  updateGroup,
  updateInstallation,
  updateLocation,
  updateScreen,
  updateZone,
} from '@attribution/contracts';
import { newId } from '@attribution/ids';
import { eventually } from '@attribution/testing';

/** The ids of a group and of a location, zone, screen, installation and camera in it. The installation drives the screen. */
export type Tree = Readonly<Record<EstateKind, string>>;

/** The endpoints of each kind, parents before children. */
export const kinds = {
  group: { list: listGroups, create: createGroup, get: getGroup, update: updateGroup, remove: deleteGroup },
  location: {
    list: listLocations,
    create: createLocation,
    get: getLocation,
    update: updateLocation,
    remove: deleteLocation,
  },
  zone: { list: listZones, create: createZone, get: getZone, update: updateZone, remove: deleteZone },
  screen: { list: listScreens, create: createScreen, get: getScreen, update: updateScreen, remove: deleteScreen },
  installation: {
    list: listInstallations,
    create: createInstallation,
    get: getInstallation,
    update: updateInstallation,
    remove: deleteInstallation,
  },
  camera: { list: listCameras, create: createCamera, get: getCamera, update: updateCamera, remove: deleteCamera },
} as const;

/** The smallest body that creates a resource of each kind in a tree. */
export const bodyIn = {
  group: () => ({ name: 'Another' }),
  location: ({ group }: Tree) => ({ group_id: group, name: 'Another', timezone: 'Europe/Zurich' }),
  zone: ({ location }: Tree) => ({ location_id: location, name: 'Another' }),
  screen: ({ zone }: Tree) => ({ zone_id: zone, name: 'Another', width_px: 1920, height_px: 1080 }),
  installation: ({ location }: Tree) => ({ location_id: location, device_id: newId('device') }),
  camera: ({ zone }: Tree) => ({ zone_id: zone, device_id: newId('device'), name: 'Another' }),
} satisfies Record<EstateKind, (tree: Tree) => object>;

export async function newTree(client: Client): Promise<Tree> {
  const tree: Record<EstateKind, string> = { ...unknownTree() };
  const make = async (kind: EstateKind, more: object = {}) => {
    const body = { ...bodyIn[kind](tree), ...more };
    tree[kind] = (await client.call(kinds[kind].create as typeof createGroup, { body: body as never })).body.id;
  };
  for (const kind of ['group', 'location', 'zone', 'screen'] as const) await make(kind);
  await make('installation', { outputs: [{ output: 'HDMI-1', screen_id: tree.screen }] });
  await make('camera');
  return tree;
}

/** Ids of no resource. */
export const unknownTree = (): Tree => ({
  group: newId('group'),
  location: newId('location'),
  zone: newId('zone'),
  screen: newId('screen'),
  installation: newId('installation'),
  camera: newId('camera'),
});

/** An estate file with a single row: a new group. */
export const oneGroup = (name: string) => ({
  media: 'text/csv' as const,
  content: `kind,external_id,name\ngroup,${name},${name}\n`,
});

/** Uploads an estate file and returns the import. */
export const upload = async (client: Client, content: string, media: EstateMedia = 'text/csv') =>
  (await client.call(importEstate, { upload: { media, content } })).body;

/** Resolves with the import when it has finished. */
export const untilImported = (client: Client, id: string, timeoutMs?: number) =>
  eventually(async () => {
    const { body } = await client.call(getEstateImport, { params: { id } });
    if (body.finished_at === null) throw new Error(`The import is ${body.status}, at ${body.progress} %`);
    return body;
  }, timeoutMs);
