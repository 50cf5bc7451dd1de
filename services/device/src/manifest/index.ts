export { manifestChanges, onManifestChanged } from './follow-manifests.ts';
export { getOwnManifestEndpoint } from './get-own-manifest.ts';
export { manifestsOf } from './source.ts';
