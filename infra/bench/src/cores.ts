import { availableParallelism } from 'node:os';
import { run } from './run.ts';

/**
 * Where a process runs. What is measured has a core to itself; the load, and what lies behind or beside it, share the
 * others; a whole platform has them all, as its people's machines give it. Without `taskset`, or on one core, everything
 * runs where the system puts it.
 */
export type Place = 'measured' | 'around' | 'anywhere';

/** As they are at the start: later this process itself may be kept to some of them. */
const count = availableParallelism();

const pinned =
  count > 1 &&
  (await run('taskset', ['-V']).then(
    () => true,
    () => false,
  ));

/** How processes are placed, for the report. */
export const placing = pinned ? 'what is measured runs on a core of its own' : 'cores are not assigned';

const coresOf = (place: Place) => ({ measured: '0', around: `1-${count - 1}`, anywhere: `0-${count - 1}` })[place];

/** Puts this process, and with it all that it starts from now on without a place of its own, among what is around. */
export async function stayAround(): Promise<void> {
  if (pinned) await run('taskset', ['-a', '-c', '-p', coresOf('around'), String(process.pid)]);
}

/** The command that runs `program` in its place. */
export function placed(place: Place, program: string, args: readonly string[]): [string, string[]] {
  if (!pinned) return [program, [...args]];
  return ['taskset', ['-c', coresOf(place), program, ...args]];
}
