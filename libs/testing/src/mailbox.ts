import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from './eventually.ts';

export interface Mailbox {
  /** All mails to an address, oldest first, as raw text. */
  messagesTo(email: string): Promise<string[]>;
  /** Waits until the address has received that many mails, and returns the code in the latest. */
  codeFor(email: string, count?: number): Promise<string>;
  /** Like `code`, for the `token=` in a link. */
  tokenFor(email: string, count?: number): Promise<string>;
}

/** Reads the folder that mails are written to. */
export function openMailbox(directory: string): Mailbox {
  const mailbox: Mailbox = {
    async messagesTo(email) {
      const names = await readdir(directory).catch(() => []);
      const mine = names.filter((name) => !name.startsWith('.') && name.endsWith(`-${email}.eml`));
      return Promise.all(mine.sort().map((name) => readFile(join(directory, name), 'utf8')));
    },
    codeFor: (email, count = 1) => find(email, count, /^(\d{6})$/m),
    tokenFor: (email, count = 1) => find(email, count, /token=([\w.~-]+)/),
  };
  function find(email: string, count: number, what: RegExp): Promise<string> {
    return eventually(async () => {
      const messages = await mailbox.messagesTo(email);
      const found = messages.length >= count && what.exec(unquoted(messages.at(-1) ?? ''))?.[1];
      if (!found) throw new Error(`${email} has ${messages.length} messages, not ${count} with ${what.source}`);
      return found;
    });
  }
  return mailbox;
}

/** Quoted-printable (RFC 2045 §6.7) wraps long lines, and escapes equals signs. */
const unquoted = (text: string) => text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=');
