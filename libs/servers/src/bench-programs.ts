import type { Found, Missing, Say } from './found.ts';
import { programOr } from './program.ts';

/** `wrk`, the load generator, or `nginx`, the peer of the gateway: on PATH, installed by apt first if possible. */
export async function findBenchProgram(name: 'wrk' | 'nginx', { say }: { say: Say }): Promise<Found | Missing> {
  const path = await programOr(name, [name === 'nginx' ? 'nginx-light' : name], say);
  if (path === undefined) return { missing: `No ${name} on PATH. Install it (apt, brew).` };
  return { found: path, url: path, stop: async () => {} };
}
