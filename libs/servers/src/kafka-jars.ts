import { createHash } from 'node:crypto';
import { access, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Say } from './found.ts';
import { run, tail, which } from './which.ts';

/** The pom.xml with the broker's jars. */
const POM = fileURLToPath(new URL('../../../infra/kafka/pom.xml', import.meta.url));

export interface JarOptions {
  /** The folder that keeps the jars between runs. */
  cache: string;
  /** Default: the workspace's. */
  pom?: string;
  say?: Say;
}

/** Kafka's version in the pom. */
export async function kafkaVersion(pom = POM): Promise<string> {
  const version = /<kafka\.version>([^<]+)</.exec(await readFile(pom, 'utf8'))?.[1];
  if (version === undefined) throw new Error(`${pom} has no <kafka.version>`);
  return version;
}

export interface Jars {
  directory: string;
  there: boolean;
}

/** Where the jars are or will be, and whether they are there. */
export async function cachedJars({ cache, pom = POM }: JarOptions): Promise<Jars> {
  // The name contains the pom's hash, and a directory gets it only when it is complete.
  const hash = createHash('sha256')
    .update(await readFile(pom))
    .digest('hex')
    .slice(0, 16);
  const directory = join(resolve(cache), `kafka-${hash}`);
  return { directory, there: await exists(directory) };
}

/** Makes Maven copy the jars, unless they are there, and returns their directory. Callers may race. */
export async function kafkaJars(options: JarOptions): Promise<string> {
  const { pom = POM, say } = options;
  const { directory, there } = await cachedJars(options);
  if (there) return directory;
  const maven = await which('mvn');
  if (maven === undefined) throw new Error('Maven (mvn), which fetches Kafka, is not on PATH');
  await mkdir(resolve(options.cache), { recursive: true });
  const fresh = await mkdtemp(`${directory}.new-`);
  try {
    say?.(`Maven: fetching Kafka ${await kafkaVersion(pom)}, 44 MB, once…`);
    const goal = ['dependency:copy-dependencies', `-DoutputDirectory=${fresh}`];
    const args = ['-q', '-B', '-Dstyle.color=never', '-f', pom, ...goal];
    const { ok, output } = await run(maven, args, { ms: 10 * 60_000 });
    if (!ok) throw new Error(`Maven could not fetch Kafka.\n${tail(output)}`);
    await rename(fresh, directory).catch(async (error) => {
      if (!(await exists(directory))) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
  return directory;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
