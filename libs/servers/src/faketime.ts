import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { aptInstall } from './apt.ts';
import { type Found, firstOf, type Missing, type Say } from './found.ts';
import { run } from './which.ts';

const HINT = 'Install libfaketime (Debian and Ubuntu have it), or give TEST_FAKETIME (the path of libfaketimeMT.so.1).';
const ahead = 150;

/** The environment that shifts a process's time of day by some seconds. Timers are not affected, as they use the monotonic clock. */
export const faketimeEnvironment = (library: string, seconds: number): Record<string, string> => ({
  LD_PRELOAD: library,
  FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`,
  FAKETIME_DONT_FAKE_MONOTONIC: '1',
});

/**
 * libfaketime; the `url` is the path of its library. TEST_FAKETIME gives it, else it is Debian's, installed first if
 * possible. It must work with this Node: shift its time of day, and not affect its timers.
 */
export async function findFaketime({ say }: { say: Say }): Promise<Found | Missing> {
  const checked = async (library: string, found: string): Promise<Found | string> =>
    (await trouble(library)) ?? { found, url: library, stop: async () => {} };
  const given = process.env.TEST_FAKETIME;
  if (given) return firstOf('libfaketime', [() => checked(given, 'given by TEST_FAKETIME')], HINT, say);
  const own = async () => {
    const there = await debians();
    const refused = there === undefined ? await aptInstall([['libfaketime']], say) : undefined;
    const library = there ?? (await debians());
    if (library === undefined) return `it is not installed, and ${refused ?? 'apt-get brought none'}`;
    return checked(library, library);
  };
  return firstOf('libfaketime', [own], HINT, say);
}

/** Debian's build for multi-threaded programs, whose folder depends on the architecture. */
async function debians(): Promise<string | undefined> {
  for (const triplet of await readdir('/usr/lib').catch(() => [])) {
    const library = join('/usr/lib', triplet, 'faketime/libfaketimeMT.so.1');
    if (
      await readdir(join(library, '..')).then(
        (names) => names.includes('libfaketimeMT.so.1'),
        () => false,
      )
    )
      return library;
  }
  return undefined;
}

/** The reason why it does not work, or undefined. */
async function trouble(library: string): Promise<string | undefined> {
  const program = 'setTimeout(() => console.log(Date.now(), Math.round(performance.now())), 300)';
  const env = faketimeEnvironment(library, ahead);
  const { ok, output } = await run(process.execPath, ['-e', program], { ms: 20_000, env });
  const [now, lasted] = output.split(' ').map(Number);
  if (!ok || now === undefined || lasted === undefined) return `Node does not run with it (${output.slice(0, 200)})`;
  if (Math.abs(now - Date.now() - ahead * 1000) > 10_000) return 'it does not move the time';
  return lasted < 250 || lasted > 10_000 ? 'timers go wrong with it' : undefined;
}
