export { codeRules, emailKeyOf } from './code.ts';
export { deleteCodesExpiredBefore } from './code.store.ts';
export { type Codes, createCodes } from './codes.ts';
