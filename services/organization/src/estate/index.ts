export { refusalOf } from './constraints.ts';
export { deleteEndpoint, getEndpoint, listEndpoint, readPage } from './endpoints.ts';
export { changeEvent, deletionEvent, firstFields, stateOf } from './events.ts';
export { type EstateRow, groupOf, type Kind, type PlacedRow, refOf } from './kind.ts';
export { merge } from './merge.ts';
export { countByGroup, findPage } from './page.store.ts';
export { type Scope, scopeOf } from './scope.ts';
export { countOf, deleteSome, findAll, findWith, insertRows, selectionOf, updateRows } from './tree.store.ts';
export { type Change, createWriter, type Writer } from './writer.ts';
