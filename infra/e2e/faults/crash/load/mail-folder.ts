import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export interface MailFolder {
  /** The code in the latest message to the address; undefined when none comes in `ms`, or nobody waits any more. */
  codeFor(email: string, ms: number, goesOn: () => boolean): Promise<string | undefined>;
  /** The addresses that got a message. */
  addresses(): Promise<ReadonlySet<string>>;
}

/** Milliseconds that a look into the folder serves all who ask. */
const freshFor = 100;

/** The folder that mail is written to, for many who wait at once and for thousands of messages. */
export function openMailFolder(directory: string): MailFolder {
  let looked = 0;
  let latest: Promise<Map<string, string>> = Promise.resolve(new Map());

  async function look(): Promise<Map<string, string>> {
    const names = (await readdir(directory).catch((): string[] => [])).filter((name) => !name.startsWith('.')).sort();
    return new Map(names.map((name) => [/Z-\d+-(.+)\.eml$/.exec(name)?.[1] ?? name, name]));
  }
  function messages(): Promise<Map<string, string>> {
    if (Date.now() - looked < freshFor) return latest;
    looked = Date.now();
    latest = look();
    return latest;
  }

  return {
    async codeFor(email, ms, goesOn) {
      for (const deadline = Date.now() + ms; Date.now() < deadline && goesOn(); await sleep(freshFor)) {
        const name = (await messages()).get(email);
        if (name !== undefined) return /^\d{6}$/m.exec(await readFile(join(directory, name), 'utf8'))?.[0];
      }
      return undefined;
    },
    addresses: async () => new Set((await look()).keys()),
  };
}
