export { inRange, scopeTables } from './scope.store.ts';
export { type Scope, scopeOf } from './scope.ts';
