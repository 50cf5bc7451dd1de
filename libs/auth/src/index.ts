export * from './access.ts';
export { AccessClaims } from './claims.ts';
export * from './principal.ts';
export * from './tokens.ts';
