import { edgeNames } from '@attribution/contracts';
import { loadService, registeredNames } from '@attribution/registry';
import { RoleSetting, readConfig } from '@attribution/runtime';
import { z } from 'zod';

const isEdge = (name: string) => edgeNames.some((edge) => edge === name);

/** The values of `SERVICE`. */
export const programNames = [...registeredNames, ...edgeNames] as const;
export type ProgramName = (typeof programNames)[number];

/** The settings that choose the program. The gateway and the ingress have only the role `api`: no jobs and no database. */
export const choice = z
  .object({
    SERVICE: z.enum(programNames).meta({ description: 'Which program it is' }),
    ROLE: RoleSetting,
  })
  .refine(({ SERVICE, ROLE }) => !isEdge(SERVICE) || ROLE === 'api' || ROLE === 'all', {
    message: 'the gateway and the ingress are an api and nothing else',
    path: ['ROLE'],
  });

/** Runs the chosen program and imports only its code, because the gateway must load neither Postgres nor Kafka code. */
export async function runChosen(environment: Readonly<Record<string, string | undefined>>): Promise<void> {
  const { SERVICE: name } = readConfig(choice, environment);
  if (name === 'gateway') {
    await import('@attribution/gateway/main'); // Loading it runs it.
    return;
  }
  if (name === 'ingress') {
    await import('@attribution/gateway/ingress');
    return;
  }
  const { runService } = await import('@attribution/service');
  await runService(await loadService(name));
}
