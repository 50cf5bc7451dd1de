import type { Found, Missing, Say } from './found.ts';
import { programOr } from './program.ts';

/** `wrk`, which makes load, or `nginx`, which stands beside us: on PATH, installed by apt first where that can be done. */
export async function findBenchProgram(name: 'wrk' | 'nginx', { say }: { say: Say }): Promise<Found | Missing> {
  const path = await programOr(name, [name === 'nginx' ? 'nginx-light' : name], say);
  if (path === undefined) return { missing: `No ${name} on PATH. Install it (apt, brew).` };
  return { found: path, url: path, stop: async () => {} };
}
