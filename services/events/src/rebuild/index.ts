export { rebuildEndpoint } from './rebuild.ts';
