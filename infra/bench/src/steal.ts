import { readFileSync } from 'node:fs';

/** The CPU time so far, and the part that the hypervisor gave to other machines (Linux, `/proc/stat`). */
function ticks(): { all: number; stolen: number } | undefined {
  try {
    const [, ...fields] = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0]?.trim().split(/\s+/) ?? [];
    const counts = fields.slice(0, 8).map(Number);
    return { all: counts.reduce((sum, count) => sum + count, 0), stolen: counts[7] ?? 0 };
  } catch {
    return undefined;
  }
}

/** Runs the work and measures the share of CPU time that the host took meanwhile; 0 if the system does not report it. */
export async function watchingSteal<T>(work: () => Promise<T>): Promise<{ result: T; stolen: number }> {
  const before = ticks();
  const result = await work();
  const after = ticks();
  const stolen = before && after ? (after.stolen - before.stolen) / Math.max(1, after.all - before.all) : 0;
  return { result, stolen };
}
