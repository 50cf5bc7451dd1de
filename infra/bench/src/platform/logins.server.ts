/**
 * Sends logins at a fixed rate, without waiting for earlier ones. `POST /start?rate=20` begins; `POST /stop` ends, waits for
 * all responses and returns the counts.
 */
import { createServer } from 'node:http';
import { Agent, setGlobalDispatcher } from 'undici';
import { announce } from '../server.ts';

/** The outcomes of the logins of one run. */
export interface Logins {
  sent: number;
  /** Responses with 200. */
  granted: number;
  /** Responses with 503 and `Retry-After`. */
  refused: number;
  /** Any other response, or none. */
  lost: number;
  /** The longest time of a granted login, in milliseconds. */
  slowest: number;
}

const { PLATFORM_URL, EMAIL, PASSWORD } = process.env;
const body = JSON.stringify({ email: EMAIL, password: PASSWORD });
let logins: Logins = { sent: 0, granted: 0, refused: 0, lost: 0, slowest: 0 };
let timer: NodeJS.Timeout | undefined;
let open: Promise<void>[] = [];
setGlobalDispatcher(new Agent({ connections: 1024 }));

async function logIn(number: number): Promise<void> {
  const began = performance.now();
  // Each login comes from another address, because failed ones are limited by address.
  const address = `10.${(number >> 16) & 255}.${(number >> 8) & 255}.${number & 255}`;
  try {
    const answer = await fetch(`${PLATFORM_URL}/v2/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': address },
      body,
    });
    await answer.arrayBuffer();
    if (answer.status === 200) {
      logins.granted++;
      logins.slowest = Math.max(logins.slowest, performance.now() - began);
    } else if (answer.status === 503 && Number(answer.headers.get('retry-after')) > 0) logins.refused++;
    else logins.lost++;
  } catch {
    logins.lost++;
  }
}

function start(rate: number): void {
  logins = { sent: 0, granted: 0, refused: 0, lost: 0, slowest: 0 };
  const began = performance.now();
  timer = setInterval(() => {
    for (const due = ((performance.now() - began) / 1000) * rate; logins.sent < due; ) open.push(logIn(++logins.sent));
  }, 5);
}

async function stop(): Promise<Logins> {
  clearInterval(timer);
  await Promise.all(open);
  open = [];
  return logins;
}

const server = createServer((req, res) => {
  const { pathname, searchParams } = new URL(req.url ?? '/', 'http://localhost');
  if (pathname === '/start') start(Number(searchParams.get('rate')));
  const answer = pathname === '/stop' ? stop() : Promise.resolve({});
  answer.then(
    (text) => res.end(JSON.stringify(text)),
    () => res.destroy(),
  );
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  announce(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
});
process.on('SIGTERM', () => process.exit(0));
