import { type AddressInfo, createServer, type Socket } from 'node:net';
import { eventually, type TestService } from '@attribution/testing';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import PostalMime from 'postal-mime';
import { createSmtpSender } from '../src/mail/index.ts';
import { count, newEmail, rows, signUp, startAccountService } from './support.ts';

/** As much of an SMTP server (RFC 5321) as it takes to get a message, which answers as the test says. */
async function startMailServer() {
  const received: { to: string; data: string }[] = [];
  /** Commands without a reply of their own. */
  const said: string[] = [];
  const usual = { rcpt: async () => '250 OK', data: async () => '250 Queued' };
  const replies = { ...usual };

  async function talk(socket: Socket): Promise<void> {
    let to = '';
    let data: string[] | undefined;
    const say = (line: string) => socket.write(`${line}\r\n`);
    const hear = async (line: string) => {
      if (data && line !== '.') data.push(line);
      else if (data) {
        received.push({ to, data: data.join('\n') });
        data = undefined;
        say(await replies.data());
      } else if (/^RCPT TO:/i.test(line)) {
        to = line.slice('RCPT TO:'.length);
        say(await replies.rcpt());
      } else if (/^DATA/i.test(line)) {
        data = [];
        say('354 Go on');
      } else if (/^STARTTLS/i.test(line)) say('502 5.5.1 Not here');
      else {
        said.push(line);
        say('250 OK');
      }
    };
    say('220 mail.test');
    let rest = '';
    for await (const chunk of socket) {
      const lines = (rest + String(chunk)).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) await hear(line);
    }
  }

  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    talk(socket).catch(() => {}); // The client went away.
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    said,
    replies,
    reset: () => Object.assign(replies, usual),
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

let mailServer: Awaited<ReturnType<typeof startMailServer>>;
let service: TestService;
beforeAll(async () => {
  mailServer = await startMailServer();
  service = await startAccountService({ SMTP_URL: mailServer.url, MAIL_FROM: 'Desk <desk@platform.test>' });
});
afterEach(() => {
  mailServer.reset();
});
afterAll(async () => {
  await service.stop();
  mailServer.stop();
});

const messagesTo = (email: string) => mailServer.received.filter(({ to }) => to === `<${email}>`);

test('with SMTP configured, a message goes to the mail server and not into the folder', async () => {
  const { email } = await signUp(service);
  await eventually(async () => expect(await count(service, 'queued_mails')).toBe(0));
  const [message, ...more] = messagesTo(email);
  expect(more).toEqual([]);
  const parsed = await PostalMime.parse(message?.data ?? '');
  expect(parsed).toMatchObject({
    subject: 'Your verification code',
    from: { name: 'Desk', address: 'desk@platform.test' },
  });
  expect(parsed.text).toMatch(/^\d{6}$/m);
  expect(await service.mailbox.messagesTo(email)).toEqual([]);
});

test('a message that the server refuses is sent again, and neither log nor queue names the address', async () => {
  const email = newEmail();
  mailServer.replies.rcpt = async () => `451 4.3.0 <${email}>: try again later`;
  await signUp(service, email);
  const [queued] = await eventually(async () => {
    const found = await rows<{ last_error: string }>(service, 'SELECT * FROM queued_mails WHERE attempts = 1');
    expect(found).toHaveLength(1);
    return found;
  });
  expect(queued?.last_error).toContain('451 4.3.0 <[address]>: try again later');
  expect(service.logs.text()).toContain('A message could not be sent');
  expect(service.logs.text()).not.toContain(email);
  expect(JSON.stringify(queued)).not.toContain(email);

  mailServer.reset();
  service.clock.advance({ seconds: 5 });
  await eventually(async () => expect(await count(service, 'queued_mails')).toBe(0));
  expect(messagesTo(email)).toHaveLength(1);
});

test('while a message is being sent, no lock and no transaction waits for the mail server', async () => {
  const answer = Promise.withResolvers<string>();
  mailServer.replies.data = () => answer.promise;
  const { email } = await signUp(service);
  try {
    await eventually(() => expect(messagesTo(email)).toHaveLength(1));
    const idle =
      "SELECT query FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'";
    expect(await rows(service, idle)).toEqual([]);
    await rows(service, 'SELECT FROM queued_mails FOR UPDATE NOWAIT');
  } finally {
    answer.resolve('250 Queued');
  }
  await eventually(async () => expect(await count(service, 'queued_mails')).toBe(0));
  expect(messagesTo(email)).toHaveLength(1);
});

test('where TLS is required, a server that does not turn to it gets neither a message nor an address nor a password', async () => {
  const { url, received, said } = mailServer;
  said.length = 0;
  const before = received.length;
  const withLogin = url.replace('smtp://', 'smtp://somebody:something@');
  const sender = createSmtpSender({ url: withLogin, from: 'desk@platform.test', requireTls: true });
  const mail = { to: newEmail(), subject: 'A subject', text: 'A text', html: '<p>A text</p>' };
  await expect(sender.send(mail)).rejects.toThrow(/STARTTLS/);
  expect(received).toHaveLength(before);
  expect(said.filter((line) => !/^(EHLO|QUIT)/i.test(line))).toEqual([]);
});
