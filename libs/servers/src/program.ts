import { aptInstall } from './apt.ts';
import type { Say } from './found.ts';
import { which } from './which.ts';

/** The path of a program on PATH, installed by apt first if it is missing and apt can be used. */
export async function programOr(program: string, packages: string[], say: Say): Promise<string | undefined> {
  const found = await which(program);
  if (found !== undefined) return found;
  const refused = await aptInstall([packages], say);
  if (refused !== undefined) say(`${program} is not on PATH, and ${refused}`);
  return which(program);
}
