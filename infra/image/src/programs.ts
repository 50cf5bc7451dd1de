import type { ServiceName } from '@attribution/contracts';
import { RoleSetting, readConfig } from '@attribution/runtime';
import { z } from 'zod';

/** What the image can be, by the name in `SERVICE`. Loading a program runs it. */
const programs = {
  account: async () => void (await import('@attribution/account/main')),
  organization: async () => void (await import('@attribution/organization/main')),
  campaign: async () => void (await import('@attribution/campaign/main')),
  billing: async () => void (await import('@attribution/billing/main')),
  gateway: async () => void (await import('@attribution/gateway/main')),
} satisfies Partial<Record<ServiceName | 'gateway', () => Promise<void>>>;

export type ProgramName = keyof typeof programs;
export const programNames = Object.keys(programs) as [ProgramName, ...ProgramName[]];

/** What chooses the program. A gateway has nothing behind its requests, and no database. */
export const choice = z
  .object({ SERVICE: z.enum(programNames), ROLE: RoleSetting })
  .refine(({ SERVICE, ROLE }) => SERVICE !== 'gateway' || ROLE === 'api' || ROLE === 'all', {
    message: 'the gateway is an api and nothing else',
    path: ['ROLE'],
  });

export async function runChosen(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  await programs[readConfig(choice, environment).SERVICE]();
}
