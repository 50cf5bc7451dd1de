import { setTimeout as sleep } from 'node:timers/promises';
import type { Lab } from '../experiment.ts';
import { type Checked, check } from './check/check.ts';
import { type Plan, runRounds } from './kill/rounds.ts';
import { type Ledger, openLedger } from './load/ledger.ts';
import { startLoad } from './load/load.ts';
import { openMailFolder } from './load/mail-folder.ts';
import type { World } from './worlds/world.ts';

/** People at a time. */
const width = 6;
/** Milliseconds of load after the last kill. */
const afterwards = 500;
/** Acknowledged answers between a start and the time from which passings of a point count. */
const busyAnswers = 20;

export interface Crash extends Checked {
  readonly kills: number;
}

export interface CrashOptions {
  readonly plan: Plan;
  readonly seed: number;
  readonly say: Lab['say'];
  /** Milliseconds that the platform may take to come to rest. Default: the checker's. */
  readonly within?: number;
}

/** Kills by the plan, under load; then looks at what is left. Closes the world. */
export async function crash(world: World, { plan, seed, say, within }: CrashOptions): Promise<Crash> {
  const ledger = openLedger();
  const mail = openMailFolder(world.mailDirectory);
  try {
    const load = startLoad({ baseUrl: world.url, mail, ledger, seed, width });
    let kills: number;
    try {
      kills = await runRounds(plan, { say, busy: () => moreThan(ledger, busyAnswers) });
      await world.well();
      await sleep(afterwards);
    } finally {
      await load.stop();
    }
    const { published } = world;
    const databases = await world.databases();
    const checked = await check({ databases, mail, ledger, say, published, ...(within && { within }) });
    return { kills, ...checked };
  } finally {
    await world.close();
  }
}

/** Resolves when so many more were acknowledged. */
async function moreThan({ counts }: Ledger, more: number): Promise<void> {
  const wanted = counts.acknowledged + more;
  for (const deadline = Date.now() + 60_000; counts.acknowledged < wanted; await sleep(20))
    if (Date.now() > deadline) throw new Error('The load does not get through, though everything is well');
}
