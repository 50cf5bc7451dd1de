import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Credential } from './client.ts';
import type { Manifest } from './manifest.ts';

/** What a device remembers while it is switched off. */
export interface Memory {
  readonly serial: string;
  /** PEM; it never leaves the device. */
  readonly factoryKey: string;
  /** PEM; it is on the list that the factory sends. */
  readonly publicKey: string;
  readonly credential?: Credential | undefined;
  readonly manifest?: Manifest | undefined;
}

export interface Flash {
  read(): Promise<Memory | undefined>;
  write(memory: Memory): Promise<void>;
}

/** A file, replaced when it is complete: a device that loses its power reads the former one. Only the owner can read it. */
export async function openFlash(directory: string, serial: string): Promise<Flash> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, `${serial}.json`);
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
      return text === undefined ? undefined : (JSON.parse(text) as Memory);
    },
    async write(memory) {
      await writeFile(`${path}.new`, JSON.stringify(memory), { mode: 0o600 });
      await rename(`${path}.new`, path);
    },
  };
}

/** A device that forgets everything when it is switched off. */
export function volatileFlash(memory?: Memory): Flash {
  let kept = memory;
  return {
    read: async () => kept,
    async write(next) {
      kept = next;
    },
  };
}
