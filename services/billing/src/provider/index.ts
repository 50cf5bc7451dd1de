export { joinProvider, openProvider, type ProviderDependencies, type ProviderRuntime } from './open-provider.ts';
export * from './payment-provider.ts';
export { providerProblem, thingProblem } from './provider-problem.ts';
export { withLoggedFailures } from './with-logged-failures.ts';
