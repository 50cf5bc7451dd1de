import { gatewaySettings } from '@attribution/gateway/config';
import { loadServices, registeredNames } from '@attribution/registry';
import { type Role, setting } from '@attribution/runtime';
import { callSettings, serviceSettings } from '@attribution/service';
import { z } from 'zod';
import { choice, type ProgramName } from './programs.ts';

/** What `databases.ts` reads: who may make databases, … */
export const adminSettings = z.object({ NODE_ENV: z.string().optional(), ADMIN_DATABASE_URL: z.url() });

/** … and the URL that each service will find its own by. */
export const databaseUrls = z.object(
  Object.fromEntries(registeredNames.map((name) => [`${name.toUpperCase()}_DATABASE_URL`, z.url()])),
);

/** What Node itself reads. */
export const nodeSettings = z.object({
  NODE_OPTIONS: z.string().optional().meta({ description: "Node's own options: how large the heap may be" }),
  NODE_EXTRA_CA_CERTS: z
    .string()
    .optional()
    .meta({ description: 'The file of certificates of an authority of your own' }),
  UV_THREADPOOL_SIZE: setting.count.optional().meta({ description: 'How many threads hash passwords and read files' }),
});

type FaultsIn = (program: string, environment: Readonly<Record<string, string>>) => string[];

/** The commands of the image, from its working directory. */
export const commands = { process: 'infra/image/src/main.ts', databases: 'infra/image/src/databases.ts' } as const;

/**
 * Loads every service, and resolves with what says what is wrong with the environment of a command of the image:
 * variables that it does not read, required ones that are missing, values that do not fit. Values are not shown.
 */
export async function loadFaultsIn(): Promise<FaultsIn> {
  const services = new Map((await loadServices()).map((service) => [service.name as string, service]));

  /** Everything that a process of this name and role reads. */
  function settingsOf(name: ProgramName, role: Role): readonly z.ZodObject[] {
    const service = services.get(name);
    if (!service) return [nodeSettings, choice, gatewaySettings];
    if (role === 'migrate') return [nodeSettings, choice, serviceSettings.migrate];
    return [nodeSettings, choice, serviceSettings[role], service.settings, callSettings(service.calls, role)];
  }

  return (program, environment) => {
    if (program === commands.databases) return faultsBy([nodeSettings, adminSettings, databaseUrls], environment);
    if (program !== commands.process) return [`${program} is no program of the image`];
    const chosen = choice.safeParse(environment);
    if (!chosen.success) return faultsBy([choice], environment, true);
    return faultsBy(settingsOf(chosen.data.SERVICE, chosen.data.ROLE), environment);
  };
}

function faultsBy(schemas: readonly z.ZodObject[], environment: Readonly<Record<string, string>>, partly = false) {
  const read = new Set(schemas.flatMap((schema) => Object.keys(schema.shape)));
  const unread = partly ? [] : Object.keys(environment).filter((name) => !read.has(name));
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const misfits = schemas.flatMap((schema) => schema.safeParse(given).error?.issues ?? []);
  return [
    ...unread.map((name) => `${name}: nobody reads it`),
    ...new Set(misfits.map(({ path, message }) => `${path.join('.')}: ${message}`)),
  ];
}
