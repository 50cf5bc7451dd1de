import { once } from 'node:events';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';

export interface MailCatcher {
  readonly port: number;
  stop(): Promise<void>;
}

/**
 * Accepts mail by SMTP on 127.0.0.1 and delivers none. Each message becomes an `.eml` file for each recipient, named by time
 * and recipient as with `npm start`.
 */
export async function startMailCatcher(directory: string): Promise<MailCatcher> {
  await mkdir(directory, { recursive: true });
  let count = 0;

  async function keep(content: Buffer, recipients: readonly string[]): Promise<void> {
    for (const recipient of recipients) {
      const time = new Date().toISOString().replaceAll(':', '-');
      const name = `${time}-${++count}-${recipient.replaceAll(/[^A-Za-z0-9@._+-]/g, '_').slice(0, 200)}.eml`;
      const text = content.toString('latin1').replaceAll('\r\n', '\n');
      // Renamed when complete, so that nobody reads an incomplete message.
      await writeFile(join(directory, `.${name}`), text, { mode: 0o600, encoding: 'latin1' });
      await rename(join(directory, `.${name}`), join(directory, name));
    }
  }

  const server = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    disableReverseLookup: true,
    closeTimeout: 1_000,
    onData(stream, session, done) {
      buffer(stream)
        .then((content) =>
          keep(
            content,
            session.envelope.rcptTo.map(({ address }) => address),
          ),
        )
        .then(() => done(), done);
    },
  });
  server.on('error', () => {}); // A client's connection failed: the client sends the message again.
  const listening = server.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return {
    port: (listening.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(resolve)),
  };
}
