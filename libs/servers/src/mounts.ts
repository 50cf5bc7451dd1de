import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Found, firstOf, type Missing, type Say } from './found.ts';
import { run, tail, which } from './which.ts';

const HINT = 'Run this as root, or as a user who may use sudo without a password.';

export interface SmallDisk {
  readonly directory: string;
  /** Unmounts it. No process may be using it. */
  unmount(): Promise<void>;
}

/** Mounts a file system of some MiB in memory, owned by a user. `how` is the `url` that `findMounts` found. */
export async function mountSmallDisk(how: string, mebibytes: number, uid: number): Promise<SmallDisk> {
  const directory = await mkdtemp(join(tmpdir(), 'small-disk-'));
  const options = `size=${mebibytes}m,uid=${uid},mode=0700`;
  try {
    await must(how, ['mount', '-t', 'tmpfs', '-o', options, 'small-disk', directory]);
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
  return {
    directory,
    async unmount() {
      await must(how, ['umount', '--lazy', directory]);
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Whether this process may mount file systems. The `url` says how: `root`, or `sudo`. */
export async function findMounts({ say }: { say: Say }): Promise<Found | Missing> {
  const way = (how: string) => async (): Promise<Found | string> => {
    if (how === 'root' && process.getuid?.() !== 0) return 'this is not root';
    if (how === 'sudo' && (await which('sudo')) === undefined) return 'there is no sudo';
    const disk = await mountSmallDisk(how, 1, process.getuid?.() ?? 0);
    await disk.unmount();
    return { found: `as ${how}`, url: how, stop: async () => {} };
  };
  return firstOf('small file systems', [way('root'), way('sudo')], HINT, say);
}

async function must(how: string, words: readonly string[]): Promise<void> {
  const [program = '', ...args] = how === 'sudo' ? ['sudo', '-n', ...words] : words;
  const { ok, output } = await run(program, args, { ms: 20_000 });
  if (!ok) throw new Error(`${words[0]} was refused (${tail(output, 1)})`);
}
