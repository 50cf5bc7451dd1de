/**
 * A service that reads every request and responds immediately; to `?large=1` with more bytes than all socket buffers on the
 * way can hold. It runs in its own process so that it does not delay the measurements. It listens on `PORT`; `/open`
 * responds with the number of its connections.
 */
import { createServer } from 'node:http';
import { keepAlive } from '@attribution/http';

/** Linux lets a socket's buffers grow to 4 MiB on one side and to 32 on the other. */
const large = Buffer.alloc(48_000_000, 'x');
const server = createServer((req, res) => {
  req.on('error', () => {});
  req.resume().once('end', () => {
    res.setHeader('content-type', 'application/json');
    if (req.url === '/open') server.getConnections((_error, count) => res.end(String(count)));
    else res.end(req.url?.includes('large') ? large : '{"ok":true}');
  });
});
Object.assign(server, keepAlive); // The same timeouts as our services.
server.listen(Number(process.env.PORT), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
