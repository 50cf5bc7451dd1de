import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newSecrets } from '@attribution/local';
import { freePort } from '@attribution/servers';
import { createMember } from '../../member.ts';
import { installAudit } from '../check/audit.ts';
import type { KillPoint } from '../kill/kill-points.ts';
import { createDatabases } from './databases.ts';
import type { World } from './world.ts';

/** The settings of `platform.process.ts`, as JSON in PLATFORM. */
export interface PlatformSettings {
  readonly databases: Readonly<Record<string, string>>;
  readonly secrets: ReturnType<typeof newSecrets>;
  readonly mailDirectory: string;
  /** The simulated provider's data. */
  readonly paymentsFile: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** The ingress's port. Default: a free one. */
  readonly devicePort?: number;
}

/** All points but the one about offsets: in one process the outbox itself is the queue. */
export const inProcessPoints = [
  'before commit',
  'after commit',
  'after the relay claims',
  'after produce before marking',
  'mid-batch',
] as const satisfies readonly KillPoint[];

/**
 * All services in one process, over the in-process transport; not started yet. It is always started with `nodeArguments`, and
 * with these settings of services.
 */
export async function openOneProcess(
  nodeArguments: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<World> {
  const { databases, drop } = await createDatabases();
  await installAudit(databases);
  const mailDirectory = await mkdtemp(join(tmpdir(), 'crash-mail-'));
  const settings: PlatformSettings = {
    databases,
    secrets: newSecrets(),
    mailDirectory,
    paymentsFile: join(mailDirectory, 'payments.sqlite'),
    environment,
  };
  const member = createMember({
    program: 'infra/e2e/faults/crash/worlds/platform.process.ts',
    port: await freePort(),
    environment: { PLATFORM: JSON.stringify(settings) },
    nodeArguments,
  });
  return {
    url: member.url,
    mailDirectory,
    victims: [
      {
        name: 'platform',
        member,
        points: inProcessPoints,
        ready: () => member.alive(),
        kill: async () => void (await member.end('SIGKILL')),
      },
    ],
    ready: () => member.alive(),
    databases: async () => databases,
    async close() {
      await member.end('SIGTERM');
      await drop();
      await rm(mailDirectory, { recursive: true, force: true });
    },
  };
}
