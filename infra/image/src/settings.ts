import { accountSettings } from '@attribution/account/config';
import { billingSettings } from '@attribution/billing/config';
import { campaignSettings } from '@attribution/campaign/config';
import { gatewaySettings } from '@attribution/gateway/config';
import { type Role, setting } from '@attribution/runtime';
import { serviceSettings } from '@attribution/service';
import { z } from 'zod';
import { choice, type ProgramName } from './programs.ts';

/** What `databases.ts` reads: who may make databases, and what each service will find its own by. */
export const databasesSettings = z.object({
  NODE_ENV: z.string().optional(),
  ADMIN_DATABASE_URL: z.url(),
  ACCOUNT_DATABASE_URL: z.url(),
  ORGANIZATION_DATABASE_URL: z.url(),
  CAMPAIGN_DATABASE_URL: z.url(),
  BILLING_DATABASE_URL: z.url(),
} satisfies Record<
  `${Uppercase<Exclude<ProgramName, 'gateway'>>}_DATABASE_URL` | 'ADMIN_DATABASE_URL' | 'NODE_ENV',
  z.ZodType
>);

/** What a service reads besides what every service does. */
const own: Record<ProgramName, z.ZodObject> = {
  account: accountSettings,
  organization: z.object({}),
  campaign: campaignSettings,
  billing: billingSettings,
  gateway: gatewaySettings,
};

/** What Node itself reads. */
const nodeSettings = z.object({
  NODE_OPTIONS: z.string().optional(),
  NODE_EXTRA_CA_CERTS: z.string().optional(),
  UV_THREADPOOL_SIZE: setting.count.optional(),
});

/** Everything that a process of this name and role reads. */
function settingsOf(name: ProgramName, role: Role): readonly z.ZodObject[] {
  if (name === 'gateway') return [nodeSettings, choice, gatewaySettings];
  if (role === 'migrate') return [nodeSettings, choice, serviceSettings.migrate];
  return [nodeSettings, choice, serviceSettings[role], own[name]];
}

/** The commands of the image, from its working directory. */
export const commands = { process: 'infra/image/src/main.ts', databases: 'infra/image/src/databases.ts' } as const;

/**
 * What is wrong with the environment of a command of the image: variables that it does not read, required ones that
 * are missing, values that do not fit. Values are not told.
 */
export function faultsIn(program: string, environment: Readonly<Record<string, string>>): string[] {
  if (program === commands.databases) return faultsBy([nodeSettings, databasesSettings], environment);
  if (program !== commands.process) return [`${program} is no program of the image`];
  const chosen = choice.safeParse(environment);
  if (!chosen.success) return faultsBy([choice], environment, true);
  return faultsBy(settingsOf(chosen.data.SERVICE, chosen.data.ROLE), environment);
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
