export * from './access.ts';
export { AccessClaims, principalOf } from './claims.ts';
export type { DeviceIdentity } from './device-tokens.ts';
export * from './internal-tokens.ts';
export * from './key-sets.ts';
export * from './principal.ts';
export * from './rotate-keys.ts';
export * from './tokens.ts';
