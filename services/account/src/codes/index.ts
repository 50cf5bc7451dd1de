export { deleteCodesOf, expiredCodes } from './code.store.ts';
export { codeGone, codeRules, emailKeyOf } from './code.ts';
export { type Codes, createCodes } from './codes.ts';
