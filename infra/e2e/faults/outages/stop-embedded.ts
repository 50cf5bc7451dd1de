import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { KeySet, keyFilesOf } from '@attribution/auth';
import { z } from 'zod';
import { rowsOf } from '../crash/check/databases.ts';
import type { Finding, Lab } from '../experiment.ts';
import { createLocal, type Ending } from '../member.ts';
import { ownerTokens } from './owner.ts';
import { startSteadyClients } from './steady-clients.ts';
import { describeFailures } from './stop-replicas.ts';

/** Sends SIGTERM to `npm start` under load, and starts it again on the same data. */
export async function stopEmbedded({ chance, rounds, say }: Lab): Promise<Finding[]> {
  const directory = await mkdtemp(join(tmpdir(), 'stop-local-'));
  const member = await createLocal(directory, { LOG_LEVEL: 'warn' });
  const total = { answered: 0, lost: 0, slowestStop: 0, endings: new Set<Ending>() };
  const failed: Parameters<typeof describeFailures>[0][number][] = [];
  const created = new Set<string>();
  try {
    for (let round = 0; round < rounds; round++) {
      member.start();
      await member.alive();
      const keys = await readFile(keyFilesOf(directory).private, 'utf8');
      const token = ownerTokens(KeySet.parse(JSON.parse(keys)));
      const clients = startSteadyClients({ url: member.url, token, chance, count: 16, stopWhenRefused: true });
      await sleep(chance.int(300, 1_200));
      const signalled = performance.now();
      total.endings.add(await member.end('SIGTERM'));
      total.slowestStop = Math.max(total.slowestStop, performance.now() - signalled);
      await clients.stop();
      total.answered += clients.answered;
      failed.push(...clients.failed);
      for (const id of clients.created) created.add(id);
      if (clients.failed.length > 0) say(`  round ${round + 1}: ${describeFailures(clients.failed)}`);
    }
    member.start();
    await member.alive();
    const note = await readFile(join(directory, 'running.json'), 'utf8');
    const { databases } = z.object({ databases: z.record(z.string(), z.string()) }).parse(JSON.parse(note));
    const there = await rowsOf<{ id: string }>(databases.organization ?? '', 'SELECT id FROM groups');
    const ids = new Set(there.map(({ id }) => id));
    total.lost = [...created].filter((id) => !ids.has(id)).length;
  } finally {
    await member.end('SIGTERM');
    await rm(directory, { recursive: true, force: true });
  }
  return [
    {
      what: 'SIGTERM to the whole in one process, under load on kept connections',
      tried: rounds,
      found: [
        `${total.answered} answered, ${failed.length} failed`,
        ...(failed.length > 0 ? [describeFailures(failed)] : []),
        `acknowledged and lost ${total.lost}`,
        `ended with ${[...total.endings].join(', ')} within ${(total.slowestStop / 1000).toFixed(1)} s`,
      ].join('; '),
      bar: 'none failed, none lost, exit 0',
      holds:
        failed.length === 0 && total.lost === 0 && total.answered > 0 && [...total.endings].every((end) => end === 0),
    },
  ];
}
