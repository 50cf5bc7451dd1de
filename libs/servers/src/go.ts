import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { Say } from './found.ts';
import { programOr } from './program.ts';
import { run, tail } from './which.ts';

export interface GoProgramOptions {
  /** The folder that keeps programs between runs. */
  readonly cache: string;
  readonly say: Say;
  /** `package@version` from the module proxy, with a name if the package's last word is not the program's; or the folder of a local module. */
  readonly from: { readonly module: string; readonly name?: string } | { readonly folder: string };
}

/**
 * The path of a program that this machine's Go builds once for each version or state of its source; undefined without Go.
 * Callers may race. Rejects with Go's last line if the build fails.
 */
export async function goProgram({ cache, say, from }: GoProgramOptions): Promise<string | undefined> {
  const { name, state, file = name } = 'module' in from ? versionOf(from) : await stateOf(from.folder);
  const directory = join(resolve(cache), `${name}-${state}`);
  const program = join(directory, file);
  if (await exists(program)) return program;
  const go = await programOr('go', ['golang-go'], say);
  if (go === undefined) return undefined;
  say(`go: building ${name}, once; this takes a while…`);
  await mkdir(resolve(cache), { recursive: true });
  const fresh = await mkdtemp(`${directory}.new-`);
  try {
    const flags = ['-trimpath', '-buildvcs=false', '-mod=readonly', '-ldflags=-s -w'];
    const args =
      'module' in from
        ? ['install', from.module]
        : ['build', '-C', resolve(from.folder), ...flags, '-o', join(fresh, name), '.'];
    const { ok, output } = await run(go, args, { ms: 30 * 60_000, env: { GOBIN: fresh } });
    if (!ok) throw new Error(`go could not build ${name} (${tail(output, 1)})`);
    // Built beside its final place and renamed when complete.
    await rename(fresh, directory).catch(async (error: unknown) => {
      if (!(await exists(program))) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return program;
}

interface Known {
  readonly name: string;
  readonly state: string;
  /** Go's name for the program, if it differs. */
  readonly file?: string;
}

function versionOf({ module, name }: { readonly module: string; readonly name?: string }): Known {
  const [path = '', version = ''] = module.split('@');
  return { name: name ?? basename(path), state: version, file: basename(path) };
}

async function stateOf(folder: string): Promise<Known> {
  const hash = createHash('sha256');
  const files = (await readdir(folder)).filter((file) => /[.]go$|^go[.](?:mod|sum)$/.test(file)).sort();
  for (const file of files) hash.update(`${file}\0`).update(await readFile(join(folder, file)));
  return { name: basename(resolve(folder)), state: hash.digest('hex').slice(0, 16) };
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
