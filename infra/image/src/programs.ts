import { loadService, registeredNames } from '@attribution/registry';
import { RoleSetting, readConfig } from '@attribution/runtime';
import { runService } from '@attribution/service';
import { z } from 'zod';

/** What the image can be, by the name in `SERVICE`. */
export const programNames = [...registeredNames, 'gateway'] as const;
export type ProgramName = (typeof programNames)[number];

/** What chooses the program. A gateway has nothing behind its requests, and no database. */
export const choice = z
  .object({
    SERVICE: z.enum(programNames).meta({ description: 'Which program it is' }),
    ROLE: RoleSetting,
  })
  .refine(({ SERVICE, ROLE }) => SERVICE !== 'gateway' || ROLE === 'api' || ROLE === 'all', {
    message: 'the gateway is an api and nothing else',
    path: ['ROLE'],
  });

export async function runChosen(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const { SERVICE: name } = readConfig(choice, environment);
  if (name === 'gateway')
    await import('@attribution/gateway/main'); // Loading it runs it.
  else await runService(await loadService(name));
}
