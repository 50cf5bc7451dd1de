import { gatewaySettings } from '@attribution/gateway/config';
import { ingressSettings } from '@attribution/gateway/ingress/config';
import { loadServices, registeredNames } from '@attribution/registry';
import { type Role, setting } from '@attribution/runtime';
import { callSettings, serviceSettings } from '@attribution/service';
import { z } from 'zod';
import { choice, type ProgramName } from './programs.ts';

/** `databases.ts` reads the URL of a role that may create databases, … */
export const adminSettings = z.object({ NODE_ENV: z.string().optional(), ADMIN_DATABASE_URL: z.url() });

/** … the URL of each service's database for the role that owns it, … */
export const databaseUrls = z.object(
  Object.fromEntries(registeredNames.map((name) => [`${name.toUpperCase()}_DATABASE_URL`, z.url()])),
);

/** … and for the role of its processes, where that is another. */
export const processDatabaseUrls = z.object(
  Object.fromEntries(registeredNames.map((name) => [`${name.toUpperCase()}_PROCESS_DATABASE_URL`, z.url().optional()])),
);

/** Variables that Node itself reads. */
export const nodeSettings = z.object({
  NODE_OPTIONS: z.string().optional().meta({ description: "Node's own options: how large the heap may be" }),
  NODE_EXTRA_CA_CERTS: z
    .string()
    .optional()
    .meta({ description: 'The file of certificates of an authority of your own' }),
  UV_THREADPOOL_SIZE: setting.count.optional().meta({ description: 'How many threads hash passwords and read files' }),
});

type FaultsIn = (program: string, environment: Readonly<Record<string, string>>) => string[];

/** The programs of the image, relative to its working directory. */
export const commands = { process: 'infra/image/src/main.ts', databases: 'infra/image/src/databases.ts' } as const;

/**
 * Loads every service and resolves to a function that checks the environment of one of the image's programs. It lists
 * variables that the program does not read, required ones that are missing, and invalid values, which are not shown.
 */
export async function loadFaultsIn(): Promise<FaultsIn> {
  const services = new Map((await loadServices()).map((service) => [service.name as string, service]));

  /** Everything that a process of this service and role reads. */
  function settingsOf(name: ProgramName, role: Role): readonly z.ZodObject[] {
    if (name === 'ingress') return [nodeSettings, choice, ingressSettings];
    const service = services.get(name);
    if (!service) return [nodeSettings, choice, gatewaySettings];
    if (role === 'migrate') return [nodeSettings, choice, serviceSettings.migrate];
    return [nodeSettings, choice, serviceSettings[role], service.settings, callSettings(service.calls, role)];
  }

  return (program, environment) => {
    if (program === commands.databases)
      return faultsAgainst([nodeSettings, adminSettings, databaseUrls, processDatabaseUrls], environment);
    if (program !== commands.process) return [`${program} is no program of the image`];
    const chosen = choice.safeParse(environment);
    if (!chosen.success) return faultsAgainst([choice], environment, true);
    return faultsAgainst(settingsOf(chosen.data.SERVICE, chosen.data.ROLE), environment);
  };
}

function faultsAgainst(
  schemas: readonly z.ZodObject[],
  environment: Readonly<Record<string, string>>,
  allowUnread = false,
) {
  const read = new Set(schemas.flatMap((schema) => Object.keys(schema.shape)));
  const unread = allowUnread ? [] : Object.keys(environment).filter((name) => !read.has(name));
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const issues = schemas.flatMap((schema) => schema.safeParse(given).error?.issues ?? []);
  return [
    ...unread.map((name) => `${name}: this process does not read it`),
    ...new Set(issues.map(({ path, message }) => `${path.join('.')}: ${message}`)),
  ];
}
