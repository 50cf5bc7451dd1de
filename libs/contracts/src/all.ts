// Written at each start of a command (infra/bootstrap.mjs), by the folders that have an area.ts.

export * from './account/index.ts';
export * from './billing/index.ts';
export * from './campaign/index.ts';
export * from './device/index.ts';
export * from './events/index.ts';
export * from './organization/index.ts';
export * from './utilities/index.ts';
