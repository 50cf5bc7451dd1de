import type { Say } from './found.ts';
import { run, tail, which } from './which.ts';

const env = { DEBIAN_FRONTEND: 'noninteractive' };

/** Runs one installation at a time, as apt locks its lists. */
let queue: Promise<unknown> = Promise.resolve();

/**
 * Installs the first of these sets of packages that can be installed, if this process may do so.
 * @returns the reason if it could not, else undefined.
 */
export function aptInstall(choices: string[][], say: Say): Promise<string | undefined> {
  const turn = queue.then(() => install(choices, say));
  queue = turn.catch(() => {});
  return turn;
}

async function install(choices: string[][], say: Say): Promise<string | undefined> {
  const apt = process.getuid?.() === 0 ? await which('apt-get') : undefined;
  if (apt === undefined) return 'only root on Debian or Ubuntu could have it installed';
  say('apt-get: updating the lists of packages…');
  // A failing repository is tolerated, because the existing lists may be sufficient.
  await run(apt, ['update'], { ms: 5 * 60_000, env });
  let reason = '';
  for (const packages of choices) {
    say(`apt-get: installing ${packages.join(' and ')}…`);
    const args = ['install', '-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120', ...packages];
    const { ok, output } = await run(apt, args, { ms: 15 * 60_000, env });
    if (ok) return undefined;
    reason = `apt-get could not install ${packages.join(' and ')} (${tail(output, 1)})`;
  }
  return reason;
}
