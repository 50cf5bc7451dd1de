import type { ServiceName } from '@attribution/contracts';
import type { ServiceDefinition } from '@attribution/service';

/**
 * Every service there is, in the order in which they start: the only list of them. Each is loaded when it is asked for,
 * which takes up to a second.
 */
const registry = {
  account: () => import('./account/src/index.ts'),
  organization: () => import('./organization/src/index.ts'),
  campaign: () => import('./campaign/src/index.ts'),
  billing: () => import('./billing/src/index.ts'),
} satisfies { readonly [name in ServiceName]?: () => Promise<{ readonly default: ServiceDefinition }> };

/** A service that is there. */
export type RegisteredName = keyof typeof registry;

export const registeredNames = Object.keys(registry) as RegisteredName[];
export const isRegistered = (name: string): name is RegisteredName => Object.hasOwn(registry, name);

/** Loads one service. */
export const loadService = async (name: RegisteredName): Promise<ServiceDefinition> => (await registry[name]()).default;

/** Loads them all, in the order in which they start. */
export const loadServices = (): Promise<ServiceDefinition[]> => Promise.all(registeredNames.map(loadService));
