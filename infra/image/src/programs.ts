import { loadService, registeredNames } from '@attribution/registry';
import { RoleSetting, readConfig } from '@attribution/runtime';
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

/** Loads the program that is chosen and nothing of the others: a gateway needs neither Postgres nor Kafka code. */
export async function runChosen(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const { SERVICE: name } = readConfig(choice, environment);
  if (name === 'gateway') {
    await import('@attribution/gateway/main'); // Loading it runs it.
    return;
  }
  const { runService } = await import('@attribution/service');
  await runService(await loadService(name));
}
