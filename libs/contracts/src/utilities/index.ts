export * from './endpoints.ts';
export * from './internal.endpoints.ts';
export * from './resources.ts';
