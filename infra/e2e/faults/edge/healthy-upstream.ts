import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { keepAlive } from '@attribution/http';

export interface HealthyUpstream {
  readonly url: string;
  /** Connections to it that are open now. */
  open(): number;
  stop(): Promise<void>;
}

const small: (req: IncomingMessage, res: ServerResponse) => void = (_req, res) =>
  res.setHeader('content-type', 'application/json').end('{"ok":true}');

/** A service that reads every request and responds immediately. */
export async function startHealthyUpstream(answer = small): Promise<HealthyUpstream> {
  const server = createServer((req, res) => {
    req.resume().once('end', () => answer(req, res));
    req.on('error', () => {});
  });
  let open = 0;
  server.on('connection', (socket) => {
    open++;
    socket.once('close', () => open--);
  });
  Object.assign(server, keepAlive); // The same timeouts as our services.
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open: () => open,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
