export { joinProvider, openProvider, type ProviderParts, type ProviderRuntime } from './open-provider.ts';
export * from './payment-provider.ts';
export { providerProblem, thingProblem } from './provider-problem.ts';
export { told } from './told.ts';
