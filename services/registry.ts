import type { ServiceName } from '@attribution/contracts';
import type { ServiceDefinition } from '@attribution/service';

/** All services in the order in which they start. A service is imported only when it is needed, which takes up to a second. */
const registry = {
  account: () => import('./account/src/index.ts'),
  organization: () => import('./organization/src/index.ts'),
  campaign: () => import('./campaign/src/index.ts'),
  billing: () => import('./billing/src/index.ts'),
  device: () => import('./device/src/index.ts'),
  events: () => import('./events/src/index.ts'),
  utilities: () => import('./utilities/src/index.ts'),
} satisfies { readonly [name in ServiceName]?: () => Promise<{ readonly default: ServiceDefinition }> };

/** The name of a registered service. */
export type RegisteredName = keyof typeof registry;

export const registeredNames = Object.keys(registry) as RegisteredName[];
export const isRegistered = (name: string): name is RegisteredName => Object.hasOwn(registry, name);

/** Loads one service. */
export const loadService = async (name: RegisteredName): Promise<ServiceDefinition> => (await registry[name]()).default;

/** Loads all services, in the order in which they start. */
export const loadServices = (): Promise<ServiceDefinition[]> => Promise.all(registeredNames.map(loadService));
