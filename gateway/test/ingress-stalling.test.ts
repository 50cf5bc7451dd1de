import type { ServerResponse } from 'node:http';
import { connect } from 'node:tls';
import { eventually } from '@attribution/testing';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  authority,
  type DeviceService,
  newDevice,
  ofDevice,
  startDeviceService,
  startIngress,
} from './ingress-support.ts';
import { range } from './support.ts';

const megabyte = Buffer.alloc(1024 * 1024, 'x');
const megabytes = 64;
/** Responses of the service, and how much of each was taken from it. */
const begun: { readonly res: ServerResponse; sent: number }[] = [];
let big = true;

/** Writes as much as is taken, and no more. */
function respond(res: ServerResponse): void {
  if (!big) return void res.end('{}');
  const response = { res, sent: 0 };
  begun.push(response);
  const more = () => {
    while (response.sent < megabytes) {
      response.sent++;
      if (!res.write(megabyte)) return void res.once('drain', more);
    }
    res.end();
  };
  more();
}

let device: DeviceService;
let ingress: Awaited<ReturnType<typeof startIngress>>;
beforeAll(async () => {
  device = await startDeviceService((res) => respond(res));
  ingress = await startIngress(device, { environment: { CLIENT_TIMEOUT_MS: '1000' } });
});
afterAll(async () => {
  await ingress.stop();
  await device.stop();
});

test('devices that never read are cut off, and nobody holds what they do not read', async () => {
  const { identity } = newDevice(device);
  const deaf = range(10).map(() => {
    const socket = connect({ host: '127.0.0.1', port: ingress.port, ca: authority.root, ...identity });
    socket.on('error', () => {});
    socket.write(`POST ${ofDevice} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`);
    return socket.pause();
  });
  await eventually(() => expect(begun.length).toBeGreaterThanOrEqual(5)); // A busy machine may have refused some.
  await eventually(() => expect(begun.filter(({ res }) => !res.closed)).toEqual([]));
  expect(begun.filter(({ res, sent }) => res.writableFinished || sent === megabytes)).toEqual([]);
  await eventually(() => expect(device.connections.open).toBeLessThanOrEqual(1));
  for (const socket of deaf) socket.destroy();
  big = false;
  expect((await ingress.send(ofDevice, { method: 'POST', identity })).status).toBe(200);
});
