import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';

const TIMEOUT_MS = 3_000;

/** The reason why the Redis of a `redis:` or `rediss:` URL does not respond to PING, or undefined. */
export async function redisTrouble(url: string): Promise<string | undefined> {
  if (!URL.canParse(url)) return 'this is not a URL';
  const { protocol, hostname, port, username, password } = new URL(url);
  if (protocol !== 'redis:' && protocol !== 'rediss:') return `${protocol} is not redis: or rediss:`;
  const host = hostname.replace(/^\[|\]$/g, '');
  const names = [username, password].filter((name) => name !== '').map(decodeURIComponent);
  const request = (password === '' ? '' : command('AUTH', ...names)) + command('PING');
  const at = { host, port: Number(port || 6379) };
  // TLS does not allow an IP address as the server's name.
  const tls = isIP(host) ? at : { ...at, servername: host };
  return new Promise((resolve) => {
    const socket = protocol === 'redis:' ? connect(at) : connectTls(tls);
    const settle = (trouble?: string) => {
      socket.destroy();
      resolve(trouble);
    };
    let answer = '';
    socket.setTimeout(TIMEOUT_MS, () => settle(`no answer within ${TIMEOUT_MS / 1_000} s`));
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
      const refusal = /^-(.*)\r\n/m.exec(answer)?.[1];
      if (refusal !== undefined) settle(refusal);
      else if (answer.includes('+PONG\r\n')) settle();
    });
    // A name with several addresses fails with an aggregate error, whose own message is empty.
    socket.on('error', (error: NodeJS.ErrnoException) => settle(error.message || error.code || 'failed'));
    socket.on('close', () => settle('it closed the connection'));
    socket.write(request);
  });
}

/** Redis's wire format of a command. */
function command(...words: string[]): string {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${words.length}\r\n${parts.join('')}`;
}
