import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { build, version } from 'esbuild';
import { keptApart } from './kept-apart.ts';
import { whereItWas } from './where-it-was.ts';

/** The file of each program's bundle. */
export type Bundles = ReadonlyMap<string, string>;

export interface BundleOptions {
  /** The folder that the programs' paths are relative to. Default: this checkout. */
  readonly root?: string;
  /** The folder that keeps bundles between runs. */
  readonly cache?: string;
}

/** What a bundle was made of: each file with its size and the time of its last change. */
type Inputs = Readonly<Record<string, string>>;

const checkout = resolve(import.meta.dirname, '../../..');
/** After so long no process that loads modules of an old bundle is left. */
const keptForMs = 24 * 3_600_000;

/**
 * Makes modules of each program and all that it imports, so that a process that runs it reads a dozen files instead of a
 * thousand (ADR 39). Bundles are kept until a source changes. Several processes may make the same ones at a time.
 */
export async function bundlesOf(programs: readonly string[], options: BundleOptions = {}): Promise<Bundles> {
  const { root = checkout, cache = join(checkout, '.cache/bundles') } = options;
  const key = hashOf([version, process.version, root, programs]);
  const note = join(cache, `${key}.json`);
  const directory = (await upToDate(note, root)) ?? (await makeBundles(programs, { root, cache, note }));
  return new Map(programs.map((program) => [program, join(directory, program.replace(/\.ts$/, '.mjs'))]));
}

/** The folder of the bundles that the note describes, if none of their sources has changed. */
async function upToDate(note: string, root: string): Promise<string | undefined> {
  const text = await readFile(note, 'utf8').catch(() => undefined);
  if (text === undefined) return undefined;
  const { directory, inputs } = JSON.parse(text) as { readonly directory: string; readonly inputs: Inputs };
  const now = await stateOf(Object.keys(inputs), root).catch(() => undefined);
  const isThere = await stat(directory).then(
    () => true,
    () => false,
  );
  return isThere && JSON.stringify(now) === JSON.stringify(inputs) ? directory : undefined;
}

async function makeBundles(
  programs: readonly string[],
  { root, cache, note }: Required<BundleOptions> & { readonly note: string },
): Promise<string> {
  await mkdir(cache, { recursive: true });
  await removeOld(cache);
  const made = await mkdtemp(join(cache, 'making-'));
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [...programs],
    outdir: made,
    outbase: root,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: `node${process.versions.node}`,
    keepNames: true,
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    logLevel: 'silent',
    plugins: [keptApart, whereItWas],
    banner: { js: requireOfNode },
  });
  const inputs = await stateOf(Object.keys(metafile.inputs), root);
  const directory = join(cache, hashOf([note, inputs]));
  await rename(made, directory).catch(() => rm(made, { recursive: true })); // Another process has made the same.
  await writeFile(`${made}.json`, JSON.stringify({ directory, inputs }));
  await rename(`${made}.json`, note);
  return directory;
}

/** Modules that are CommonJS require others of Node, which a bundle in ES modules cannot do without it. */
const requireOfNode = `import { createRequire as createRequireOfNode } from 'node:module';
const require = createRequireOfNode(import.meta.url);`;

async function stateOf(files: readonly string[], root: string): Promise<Inputs> {
  const states = files.map(async (file) => {
    const { size, mtimeMs } = await stat(resolve(root, file));
    return [file, `${size} ${mtimeMs}`] as const;
  });
  return Object.fromEntries(await Promise.all(states));
}

async function removeOld(cache: string): Promise<void> {
  for (const name of await readdir(cache)) {
    const path = join(cache, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (Date.now() - mtimeMs > keptForMs) await rm(path, { recursive: true, force: true });
  }
}

const hashOf = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
