/**
 * A service that takes every request and answers at once; at `?large=1` with more than what the buffers of all sockets
 * on the way hold. In a process of its own, so that it does not hold up those who measure. `PORT` is where it listens;
 * `/open` tells how many connections it has.
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
Object.assign(server, keepAlive); // As our services have it.
server.listen(Number(process.env.PORT), '127.0.0.1');
process.once('SIGTERM', () => process.exit(0));
