import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Chance, eventually } from '@attribution/testing';
import { createLocal } from '../../member.ts';
import { installAudit } from '../check/audit.ts';
import { type Databases, rowsOf } from '../check/databases.ts';
import type { World } from './world.ts';

/** Runs `npm start`: the platform with its own durable Postgres. Both are killed together. */
export async function openEmbedded(chance: Chance): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'crash-local-'));
  const member = await createLocal(directory, { LOG_LEVEL: 'warn' });
  /** Postgres has another port after each start, which `npm start` writes down once everything else is ready. */
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
      // Postgres may have ended with its parent already.
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
    await member.alive();
    await installAudit(await databases());
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url: member.url,
    mailDirectory: join(directory, 'mail'),
    victims: [{ name: 'npm start', member, points: [], ready: () => member.alive(), kill }],
    ready: () => member.alive(),
    databases,
    close,
  };
}

/** The process group of the Postgres that uses the folder, if one is running: it has a session of its own. */
async function groupOfPostgres(directory: string): Promise<number | undefined> {
  const note = await readFile(join(directory, 'postgres', 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(note.split('\n')[0]);
  const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  if (!command.includes(directory)) return undefined; // The PID file is stale.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // The fields after the program's name, which may contain anything: state, parent, group.
  const [, , group] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(group) > 0 ? Number(group) : undefined;
}
