export { deleteCodesExpiredBefore, deleteCodesOf } from './code.store.ts';
export { codeRules, emailKeyOf } from './code.ts';
export { type Codes, createCodes } from './codes.ts';
