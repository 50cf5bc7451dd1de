export { followManifestChanges } from './follow-changes.ts';
export { getManifestEndpoint } from './get-manifest.ts';
