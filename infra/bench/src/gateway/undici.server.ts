/** The simplest forwarder over undici: it does not filter headers, check anything, or notice clients that leave. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Dispatcher, Pool } from 'undici';
import { announce } from '../server.ts';
import { endOnSignal, given } from './environment.ts';

const pool = new Pool(given('UPSTREAM_URL'), { connections: 256 });
const hopByHop = new Set(['connection', 'keep-alive', 'transfer-encoding', 'host']);
const server = createServer((req, res) => {
  const headers = Object.fromEntries(Object.entries(req.headers).filter(([name]) => !hopByHop.has(name)));
  const hasBody = req.headers['content-length'] !== undefined || req.headers['transfer-encoding'] !== undefined;
  pool
    .stream(
      {
        path: req.url ?? '/',
        method: (req.method ?? 'GET') as Dispatcher.HttpMethod,
        headers,
        body: hasBody ? req : null,
      },
      (answer) => res.writeHead(answer.statusCode, answer.headers),
    )
    .catch(() => res.destroy());
});
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
endOnSignal();
