import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTransport } from 'nodemailer';
import type { MailSender } from './mail.ts';

/** How long a mail server may be silent, in milliseconds. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 30_000 };

/** Sends by SMTP (RFC 5321). `requireTls`: nothing is sent to a server that does not turn to TLS (RFC 3207). */
export function createSmtpSender(options: { url: string; from: string; requireTls: boolean }): MailSender {
  const { url, from, requireTls } = options;
  const transport = createTransport({ url, requireTLS: requireTls, ...timeouts }, { from });
  return {
    async send(mail) {
      await transport.sendMail(mail);
    },
  };
}

/** Writes each message as an `.eml` file (RFC 5322) that any mail program can open. File names sort by time. */
export function createFolderSender(options: { directory: string; from: string; now: () => Date }): MailSender {
  const transport = createTransport({ streamTransport: true, buffer: true, newline: 'unix' }, { from: options.from });
  let count = 0;
  return {
    async send(mail) {
      const { message } = await transport.sendMail(mail);
      const time = options.now().toISOString().replaceAll(':', '-');
      // File systems allow names of 255 bytes; an address has up to 254.
      const name = `${time}-${++count}-${mail.to.replaceAll(/[^A-Za-z0-9@._+-]/g, '_').slice(0, 200)}.eml`;
      await mkdir(options.directory, { recursive: true });
      // The file is renamed when it is complete, so that a program that watches the folder never reads half a message.
      await writeFile(join(options.directory, `.${name}`), message as Buffer, { mode: 0o600 });
      await rename(join(options.directory, `.${name}`), join(options.directory, name));
    },
  };
}
