import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '@attribution/servers';
import { eventually } from '@attribution/testing';
import { createMember } from '../../member.ts';
import type { Chance } from '../../random.ts';
import { installAudit } from '../check/audit.ts';
import { type Databases, rowsOf } from '../check/databases.ts';
import type { World } from './world.ts';

/** What `npm start` runs: the platform with a durable Postgres of its own, both killed at once. */
export async function openEmbedded(chance: Chance): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'crash-local-'));
  const member = createMember({
    program: 'infra/local/src/main.ts',
    port: await freePort(),
    environment: {
      LOCAL_DIR: directory,
      LOG_LEVEL: 'warn',
      BCRYPT_COST: '4',
      PAYMENTS_PORT: String(await freePort()),
    },
  });
  /** Each start has another port of Postgres, and notes it when everything else is well. */
  function databases(): Promise<Databases> {
    return eventually(async () => {
      const note = await readFile(join(directory, 'running.json'), 'utf8');
      const { databases: noted } = JSON.parse(note) as { databases: Databases };
      for (const url of Object.values(noted)) await rowsOf(url, 'SELECT 1');
      return noted;
    });
  }
  async function kill(): Promise<void> {
    const group = await groupOfPostgres(directory);
    const killPostgres = () => group !== undefined && process.kill(-group, 'SIGKILL');
    if (chance.share() < 0.5) killPostgres();
    const ending = member.end('SIGKILL');
    try {
      killPostgres();
    } catch (error) {
      // It goes by itself when its parent does.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    await ending;
  }
  async function close(): Promise<void> {
    await member.end('SIGTERM');
    await rm(directory, { recursive: true, force: true });
  }

  try {
    member.start();
    await member.alive(60_000);
    await installAudit(await databases());
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url: member.url,
    mailDirectory: join(directory, 'mail'),
    victims: [{ name: 'npm start', member, points: [], well: () => member.alive(), kill }],
    well: () => member.alive(),
    databases,
    close,
  };
}

/** The process group of the server that runs on the folder, if there is one: it has a session of its own. */
async function groupOfPostgres(directory: string): Promise<number | undefined> {
  const note = await readFile(join(directory, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(note.split('\n')[0]);
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  if (!command.includes(directory)) return undefined; // The note is of one that is gone.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // After the name, which may have anything in it: state, parent, group.
  const [, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(group) > 0 ? Number(group) : undefined;
}
