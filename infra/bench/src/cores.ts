import { availableParallelism } from 'node:os';
import { run } from './run.ts';

/**
 * On which cores a process runs. The measured process has a core to itself; the load, and servers behind or beside it,
 * share the others; a whole platform may use all, as on a user's machine. Without `taskset`, or on a single core, the
 * system decides.
 */
export type Place = 'measured' | 'around' | 'anywhere';

/** Read at the start, before this process itself is restricted to some of them. */
const count = availableParallelism();

const pinned =
  count > 1 &&
  (await run('taskset', ['-V']).then(
    () => true,
    () => false,
  ));

/** How processes are pinnedCommand, for the report. */
export const placing = pinned ? 'what is measured runs on a core of its own' : 'cores are not assigned';

const coresOf = (place: Place) => ({ measured: '0', around: `1-${count - 1}`, anywhere: `0-${count - 1}` })[place];

/** Moves this process off the measured core, with all processes that it will start without a placement of their own. */
export async function stayAround(): Promise<void> {
  if (pinned) await run('taskset', ['-a', '-c', '-p', coresOf('around'), String(process.pid)]);
}

/** The command that runs `program` on its cores. */
export function pinnedCommand(place: Place, program: string, args: readonly string[]): [string, string[]] {
  if (!pinned) return [program, [...args]];
  return ['taskset', ['-c', coresOf(place), program, ...args]];
}
