import * as contracts from '@attribution/contracts';
import type { Clock } from '@attribution/runtime';
import type { Implementation } from '@attribution/service';
import type { CampaignDatabase } from '../store.ts';
import { createEndpoint, deleteEndpoint, getEndpoint, listEndpoint, updateEndpoint } from './endpoints.ts';
import { adLibraries, mediaLibraries } from './library.ts';

export { containing, librariesOf, lockLibrary } from './library.store.ts';
export { adLibraries, mediaLibraries } from './library.ts';

export function libraryEndpoints(dependencies: {
  readonly database: CampaignDatabase;
  readonly clock: Clock;
}): Implementation[] {
  return [
    listEndpoint(dependencies, mediaLibraries, contracts.listMediaLibraries),
    createEndpoint(dependencies, mediaLibraries, contracts.createMediaLibrary),
    getEndpoint(dependencies, mediaLibraries, contracts.getMediaLibrary),
    updateEndpoint(dependencies, mediaLibraries, contracts.updateMediaLibrary),
    deleteEndpoint(dependencies, mediaLibraries, contracts.deleteMediaLibrary),
    listEndpoint(dependencies, adLibraries, contracts.listAdLibraries),
    createEndpoint(dependencies, adLibraries, contracts.createAdLibrary),
    getEndpoint(dependencies, adLibraries, contracts.getAdLibrary),
    updateEndpoint(dependencies, adLibraries, contracts.updateAdLibrary),
    deleteEndpoint(dependencies, adLibraries, contracts.deleteAdLibrary),
  ];
}
