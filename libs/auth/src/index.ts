export * from './access.ts';
export { AccessClaims } from './claims.ts';
export * from './internal-tokens.ts';
export * from './principal.ts';
export * from './tokens.ts';
