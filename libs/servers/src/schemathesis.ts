import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { aptInstall } from './apt.ts';
import { type Found, firstOf, type Missing, type Say } from './found.ts';
import { run, tail, which } from './which.ts';

/** Schemathesis and all its dependencies, with hashes. */
const REQUIREMENTS = fileURLToPath(new URL('../../../infra/e2e/faults/schemathesis/requirements.txt', import.meta.url));
/** A program that succeeds silently if Python is new enough and can make virtual environments with pip. */
const PROBE = 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 10))';
/** Distributions optimise theirs by a profile. Version managers often do not, and Schemathesis is mostly Python at work. */
const SYSTEM_PYTHON = '/usr/bin/python3';
const HINT = 'Install Python 3.10 or newer with venv and pip, or give TEST_SCHEMATHESIS (a virtual environment).';

/**
 * A virtual environment with Schemathesis; its directory is the `url`. It is TEST_SCHEMATHESIS, else one below `cache`, made
 * by a Python of this machine. `bin/python -m schemathesis.cli` runs it.
 */
export async function findSchemathesis({ cache, say }: { cache: string; say: Say }): Promise<Found | Missing> {
  const given = process.env.TEST_SCHEMATHESIS;
  const found = (directory: string, how: string): Found => ({ found: how, url: directory, stop: async () => {} });
  if (given) return found(given, 'given by TEST_SCHEMATHESIS');
  const own = async () => {
    const python = await findPython(say);
    if (python === undefined) return 'no python3 that can make a virtual environment';
    return found(await environment(python, cache, say), `in a virtual environment of ${python}`);
  };
  return firstOf('Schemathesis', [own], HINT, say);
}

/** The system's python3, else the one on PATH, else Debian's, installed first if possible. */
async function findPython(say: Say): Promise<string | undefined> {
  const able = async () => {
    for (const python of [SYSTEM_PYTHON, await which('python3')])
      if (python !== undefined && (await run(python, ['-c', PROBE], { ms: 20_000 })).ok) return python;
    return undefined;
  };
  const there = await able();
  if (there !== undefined) return there;
  const refused = await aptInstall([['python3', 'python3-venv']], say);
  if (refused !== undefined) say(`python3 with venv is not on PATH, and ${refused}`);
  return able();
}

/** Made beside its final place and renamed when complete, so that callers may race. Its name contains the requirements' hash. */
async function environment(python: string, cache: string, say: Say): Promise<string> {
  const hash = createHash('sha256').update(await readFile(REQUIREMENTS));
  const directory = join(resolve(cache), `schemathesis-${hash.digest('hex').slice(0, 16)}`);
  if (await runs(directory)) return directory;
  say('pip: fetching Schemathesis, once…');
  await mkdir(resolve(cache), { recursive: true });
  const fresh = await mkdtemp(`${directory}.new-`);
  try {
    await must(python, ['-m', 'venv', fresh]);
    const settings = ['--quiet', '--disable-pip-version-check', '--require-hashes', '--only-binary', ':all:'];
    await must(join(fresh, 'bin/python'), ['-m', 'pip', 'install', ...settings, '-r', REQUIREMENTS]);
    if (await runs(directory)) return directory;
    await rm(directory, { recursive: true, force: true });
    await rename(fresh, directory);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return directory;
}

/** Whether it still runs: the environment only links to its Python, which may have been removed. */
function runs(directory: string): Promise<boolean> {
  return access(join(directory, 'bin/python')).then(
    () => true,
    () => false,
  );
}

async function must(program: string, args: string[]): Promise<void> {
  const { ok, output } = await run(program, args, { ms: 5 * 60_000 });
  if (!ok) throw new Error(`${args.slice(0, 3).join(' ')} failed.\n${tail(output)}`);
}
