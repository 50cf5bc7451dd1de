export { isKnownGroup } from './known-group.store.ts';
