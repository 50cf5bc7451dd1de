export * from './endpoints.ts';
export * from './events.ts';
export * from './internal.endpoints.ts';
export * from './resources.ts';
export * from './webhook.endpoints.ts';
