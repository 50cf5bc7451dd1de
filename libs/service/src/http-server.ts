import { createServer, type IncomingMessage, Server as HttpServer, type ServerResponse } from 'node:http';
import { type AddressInfo, Server as NetServer } from 'node:net';

export interface RunningServer {
  readonly port: number;
  /** Cuts no request: answers what is in hand and what still arrives on open connections, until `deadline` (ms). */
  close(deadline: number): Promise<void>;
}

/** How long an idle keep-alive connection may still bring a request after the last answer said `close`. */
const lastWords = 250;

export async function listen(
  handler: (req: IncomingMessage, res: ServerResponse) => void,
  options: { host: string; port: number },
): Promise<RunningServer> {
  let closing = false;
  let inHand = 0;
  const server = createServer(
    { keepAliveTimeout: 65_000, headersTimeout: 20_000, requestTimeout: 60_000, maxHeaderSize: 16_384 },
    (req, res) => {
      inHand++;
      if (closing) res.setHeader('connection', 'close');
      res.on('close', () => inHand--);
      handler(req, res);
    },
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });

  return {
    port: (server.address() as AddressInfo).port,
    async close(deadline) {
      closing = true;
      // The http server's own close() ends idle connections at once, and a request on its way to one is lost.
      const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
      await new Promise((resolve) => setTimeout(resolve, lastWords));
      while (inHand > 0 && Date.now() < deadline) await new Promise((resolve) => setTimeout(resolve, 20));
      HttpServer.prototype.closeAllConnections.call(server);
      await closed;
    },
  };
}
