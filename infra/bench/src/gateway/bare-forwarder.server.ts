/** The gateway's forwarder alone in a `node:http` server, to measure the cost of everything else in the gateway. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createForwarder } from '@attribution/gateway';
import { announce } from '../server.ts';
import { endOnSignal, given } from './environment.ts';

const forwarder = createForwarder({ upstreams: { organization: given('UPSTREAM_URL') }, timeoutMs: 30_000 });
const server = createServer((req, res) => {
  forwarder.forward('organization', req, res, () => {}).catch(() => res.destroy());
});
server.listen(0, '127.0.0.1', () => announce(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
endOnSignal();
