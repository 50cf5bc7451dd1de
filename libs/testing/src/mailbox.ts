import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from './eventually.ts';

export interface Mailbox {
  /** All messages to an address, oldest first, as raw text. */
  messagesTo(email: string): Promise<string[]>;
  /** Waits until the address has got that many messages and returns the code in the latest. */
  codeFor(email: string, count?: number): Promise<string>;
}

/** Reads the folder that messages are written to. */
export function openMailbox(directory: string): Mailbox {
  const mailbox: Mailbox = {
    async messagesTo(email) {
      const names = await readdir(directory).catch(() => []);
      const mine = names.filter((name) => !name.startsWith('.') && name.endsWith(`-${email}.eml`));
      return Promise.all(mine.sort().map((name) => readFile(join(directory, name), 'utf8')));
    },
    async codeFor(email, count = 1) {
      return eventually(async () => {
        const messages = await mailbox.messagesTo(email);
        const code = messages.length >= count && /^\d{6}$/m.exec(messages.at(-1) ?? '')?.[0];
        if (!code) throw new Error(`${email} has ${messages.length} messages, not ${count} with a code`);
        return code;
      });
    },
  };
  return mailbox;
}
