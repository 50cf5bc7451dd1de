/** The service behind the gateway on a machine without nginx. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { announce } from '../server.ts';
import { large, small } from './answers.ts';
import { endOnSignal } from './environment.ts';

const server = createServer((req, res) => {
  req.resume();
  const body = req.url === large.path ? large.body : small.body;
  res.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length }).end(body);
});
server.keepAliveTimeout = 0;
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
endOnSignal();
