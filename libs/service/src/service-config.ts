import { processSettings, RoleSetting, type RunningRole, readConfig } from '@attribution/runtime';
import { z } from 'zod';
import { addressesOf, type Calls } from './calls.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

const settings = z.object({ NODE_ENV: processSettings.NODE_ENV, ROLE: RoleSetting });

/** Settings of every process that a service's own settings may depend on. */
export type ProcessSettings = z.output<typeof settings>;

interface Configured<S extends z.ZodObject> {
  readonly settings: S;
  check?(config: z.output<S>, process: ProcessSettings): void;
}

/** Reads a service's own settings. Throws an error that names what is wrong. */
export function readOwnConfig<S extends z.ZodObject>(service: Configured<S>, environment: Environment): z.output<S> {
  const config = readConfig(service.settings, environment);
  service.check?.(config, readConfig(settings, environment));
  return config;
}

/** Reads a service's own settings, and the addresses of the services that a process of this role calls. */
export function readServiceConfig<S extends z.ZodObject>(
  service: Configured<S> & { readonly calls: Calls },
  environment: Environment,
  role: RunningRole = 'all',
) {
  return { config: readOwnConfig(service, environment), addresses: addressesOf(service.calls, environment, role) };
}
