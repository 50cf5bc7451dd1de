import * as contracts from '@attribution/contracts';
import { deleteEndpoint, getEndpoint, listEndpoint, type Writer } from '../estate/index.ts';
import type { OrganizationDatabase } from '../store.ts';
import { cameraKind } from './camera.ts';
import { createCameraEndpoint } from './create-camera.ts';
import { updateCameraEndpoint } from './update-camera.ts';

export { cameraKind } from './camera.ts';

export const cameraEndpoints = (database: OrganizationDatabase, write: Writer) => [
  listEndpoint(database, cameraKind, contracts.listCameras),
  createCameraEndpoint(database, write),
  getEndpoint(database, cameraKind, contracts.getCamera),
  updateCameraEndpoint(database, write),
  deleteEndpoint(database, write, cameraKind, contracts.deleteCamera),
];
