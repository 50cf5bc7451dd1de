import { access, mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type Found, firstOf, type Missing, type Say } from './found.ts';
import { run, tail, which } from './which.ts';

/** The checkers of rules (promtool) and of routes (amtool): the Debian package that contains each, and its variable. */
const judges = {
  promtool: { debian: 'prometheus', variable: 'TEST_PROMTOOL' },
  amtool: { debian: 'prometheus-alertmanager', variable: 'TEST_AMTOOL' },
} as const;
type Judge = keyof typeof judges;

/**
 * The program that checks the configuration of Prometheus or Alertmanager; its path is the `url`. It is given by its
 * variable, else it is the one on PATH, else that of Debian's package, unpacked below `cache`: installing the package would
 * start a server.
 */
export async function findJudge(name: Judge, { cache, say }: { cache: string; say: Say }): Promise<Found | Missing> {
  const { debian, variable } = judges[name];
  const found = (program: string, how: string): Found => ({ found: how, url: program, stop: async () => {} });
  const given = process.env[variable];
  if (given) return found(given, `given by ${variable}`);
  const onPath = async () => {
    const program = await which(name);
    return program === undefined ? `${name} is not on PATH` : found(program, program);
  };
  const unpacked = async () => {
    const program = await unpack(name, cache, say);
    return program === undefined ? 'Debian’s package cannot be had here' : found(program, 'of Debian’s package');
  };
  const hint = `Install ${debian}, which ${name} belongs to, or give ${variable} (a path).`;
  return firstOf(name, [onPath, unpacked], hint, say);
}

/** Needs apt, but neither root nor up-to-date lists. Undefined without apt; rejects with apt's last line. */
async function unpack(name: Judge, cache: string, say: Say): Promise<string | undefined> {
  const directory = join(resolve(cache), `${name}-debian`);
  const program = join(directory, 'usr/bin', name);
  if (await exists(program)) return program;
  const [apt, dpkg] = await Promise.all([which('apt-get'), which('dpkg')]);
  if (apt === undefined || dpkg === undefined) return undefined;
  say(`apt-get: fetching ${name}, once…`);
  await mkdir(resolve(cache), { recursive: true });
  const fresh = await mkdtemp(`${directory}.new-`);
  try {
    await download(apt, judges[name].debian, fresh);
    const [archive = ''] = (await readdir(fresh)).filter((file) => file.endsWith('.deb'));
    await must(dpkg, ['-x', join(fresh, archive), fresh], fresh);
    // Unpacked beside its final place and renamed when complete, so that callers may race.
    await rename(fresh, directory).catch(async (error: unknown) => {
      if (!(await exists(program))) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return program;
}

/** Uses this machine's lists or, if they are missing or too old, new ones in a private folder. */
async function download(apt: string, debian: string, into: string): Promise<void> {
  const fetch = ['download', debian];
  if ((await run(apt, fetch, { ms: 5 * 60_000, cwd: into })).ok) return;
  const own = ['-o', `Dir::State::Lists=${join(into, 'lists')}`, '-o', `Dir::Cache=${join(into, 'cache')}`];
  await mkdir(join(into, 'lists/partial'), { recursive: true });
  await mkdir(join(into, 'cache/archives/partial'), { recursive: true });
  await must(apt, [...own, 'update'], into);
  await must(apt, [...own, ...fetch], into);
  for (const one of ['lists', 'cache']) await rm(join(into, one), { recursive: true });
}

async function must(program: string, args: string[], cwd: string): Promise<void> {
  const { ok, output } = await run(program, args, { ms: 5 * 60_000, cwd });
  if (!ok) throw new Error(`${args.at(-2)} ${args.at(-1)} failed (${tail(output, 1)})`);
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
