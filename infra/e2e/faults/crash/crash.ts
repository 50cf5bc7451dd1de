import { setTimeout as sleep } from 'node:timers/promises';
import type { Lab } from '../experiment.ts';
import { type Checked, check } from './check/check.ts';
import { type Plan, runRounds } from './kill/rounds.ts';
import { type Ledger, openLedger } from './load/ledger.ts';
import { startLoad } from './load/load.ts';
import { openMailFolder } from './load/mail-folder.ts';
import type { World } from './worlds/world.ts';

/** The number of people at a time. */
const concurrency = 6;
/** How long the load continues after the last kill. */
const settleMs = 500;
/** The passes of a kill point count once so many requests were acknowledged after the start. */
const answersUntilBusy = 20;

export interface Crash extends Checked {
  readonly kills: number;
}

export interface CrashOptions {
  readonly plan: Plan;
  readonly seed: number;
  readonly say: Lab['say'];
  /** How long the platform may take to catch up. Default: the checker's. */
  readonly timeoutMs?: number;
}

/** Executes the plan under load, checks the platform and closes the world. */
export async function crash(world: World, { plan, seed, say, timeoutMs }: CrashOptions): Promise<Crash> {
  const ledger = openLedger();
  const mail = openMailFolder(world.mailDirectory);
  try {
    const load = startLoad({ baseUrl: world.url, mail, ledger, seed, concurrency });
    let kills: number;
    try {
      kills = await runRounds(plan, { say, busy: () => untilAcknowledged(ledger, answersUntilBusy) });
      await world.ready();
      await sleep(settleMs);
    } finally {
      await load.stop();
    }
    const { published } = world;
    const databases = await world.databases();
    const checked = await check({ databases, mail, ledger, say, published, ...(timeoutMs && { timeoutMs }) });
    return { kills, ...checked };
  } finally {
    await world.close();
  }
}

/** Resolves when so many more requests were acknowledged. */
async function untilAcknowledged({ counts }: Ledger, more: number): Promise<void> {
  const wanted = counts.acknowledged + more;
  for (const deadline = Date.now() + 60_000; counts.acknowledged < wanted; await sleep(20))
    if (Date.now() > deadline) throw new Error('The load does not get through, though everything is ready');
}
