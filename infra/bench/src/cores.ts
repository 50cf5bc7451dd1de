import { availableParallelism } from 'node:os';
import { run } from './run.ts';

/**
 * Where a process runs. What is measured has a core to itself; the load, and what lies behind or beside it, share the
 * others. Without `taskset`, or on one core, everything runs where the system puts it.
 */
export type Place = 'measured' | 'around';

const pinned =
  availableParallelism() > 1 &&
  (await run('taskset', ['-V']).then(
    () => true,
    () => false,
  ));

/** How processes are placed, for the report. */
export const placing = pinned ? 'what is measured runs on a core of its own' : 'cores are not assigned';

/** The command that runs `program` in its place. */
export function placed(place: Place, program: string, args: readonly string[]): [string, string[]] {
  if (!pinned) return [program, [...args]];
  const cores = place === 'measured' ? '0' : `1-${availableParallelism() - 1}`;
  return ['taskset', ['-c', cores, program, ...args]];
}
