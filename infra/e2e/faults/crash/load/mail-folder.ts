import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface MailFolder {
  /** The code in the latest message to the address; undefined if none arrives in time, or if the load is stopped. */
  codeFor(email: string, timeoutMs: number, isRunning: () => boolean): Promise<string | undefined>;
  /** The addresses to which a message was written. */
  addresses(): Promise<ReadonlySet<string>>;
}

/** How long a listing of the folder is reused for all callers. */
const cacheMs = 100;

/** Reads the folder that mail is written to; made for many concurrent callers and thousands of messages. */
export function openMailFolder(directory: string): MailFolder {
  let readAt = 0;
  let latest: Promise<Map<string, string>> = Promise.resolve(new Map());

  async function readFolder(): Promise<Map<string, string>> {
    const names = (await readdir(directory).catch((): string[] => [])).filter((name) => !name.startsWith('.')).sort();
    return new Map(names.map((name) => [/Z-\d+-(.+)\.eml$/.exec(name)?.[1] ?? name, name]));
  }
  function messages(): Promise<Map<string, string>> {
    if (Date.now() - readAt < cacheMs) return latest;
    readAt = Date.now();
    latest = readFolder();
    return latest;
  }

  return {
    async codeFor(email, timeoutMs, isRunning) {
      for (const deadline = Date.now() + timeoutMs; Date.now() < deadline && isRunning(); await sleep(cacheMs)) {
        const name = (await messages()).get(email);
        if (name !== undefined) return /^\d{6}$/m.exec(await readFile(join(directory, name), 'utf8'))?.[0];
      }
      return undefined;
    },
    addresses: async () => new Set((await readFolder()).keys()),
  };
}
